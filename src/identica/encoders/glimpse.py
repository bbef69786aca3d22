"""The network for small images that looks twice: at all of an image, and then at the part that matters."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor, nn

from identica.encoders._layers import linear
from identica.encoders._small_resnet import SmallResNet, halving_blocks, make_projection

__all__ = ["Glimpse", "GlimpseResNet"]


@final
class GlimpseResNet(SmallResNet):
    """W_2 φ(W_1 h(x)), with h features of all of x and of a part of it, and φ a leaky ReLU between 10N and N outputs.

    All of x goes through the blocks of a `LightResNet`, whose arguments this network takes. The map before the last one
    decides where to look (`Glimpse`), and blocks of their own see that part of the first map, half as high and half as
    wide. An object then keeps its place there wherever it is in the image: how it is turned is learnt once, and not
    anew for each place.
    """

    def _build(
        self, stem: nn.Sequential, maps: int, rows: int, columns: int, outputs: int, generator: Generator
    ) -> None:
        self.stem = stem
        blocks, of_all = halving_blocks(maps, rows, columns, generator)
        self.blocks = nn.ModuleList(blocks)
        self.glimpse = Glimpse(maps * 2 ** (len(blocks) - 1), rows // 2, columns // 2, generator=generator)
        closer, of_part = halving_blocks(maps, rows // 2, columns // 2, generator)
        self.closer = nn.Sequential(*closer)
        self.projection = make_projection(of_all + of_part + self.glimpse.numbers, outputs, generator)

    def _codes(self, images: Tensor) -> Tensor:
        maps = [self.stem(images)]
        for block in self.blocks:
            maps.append(block(maps[-1]))
        part, places = self.glimpse(maps[-2], maps[0])
        closer = self.closer(part.contiguous(memory_format=self.memory_format))
        codes: Tensor = self.projection(torch.cat([maps[-1].flatten(1), closer.flatten(1), places], dim=1))
        return codes


@final
class Glimpse(nn.Module):
    """What is at a few places of a map, where these are, and the part of another map that is around the first of them.

    A place is the mean of all pixels of the deciding map, weighted by a softmax over them that is learnt; what is there
    is the mean of their features. The part is sampled between pixels, so that where to look is learnt by the same
    gradient as everything else; the map that is looked at is left to what sees all of it, which saves a tenth of the
    time. Beyond the image is nothing.

    Args:
        channels: Of the map that decides.
        rows: Of the part.
        columns: Of the part.
        generator: Source of the initial weights.
    """

    PLACES = 8

    def __init__(self, channels: int, rows: int, columns: int, *, generator: Generator) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns
        self.attention = linear(channels, self.PLACES, 0.0, "torch", generator)
        self.numbers = self.PLACES * (channels + 2)

    def forward(self, deciding: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The part of `seen`, [count, channels, rows, columns], and places with their features, [count, numbers]."""
        features = deciding.movedim(1, -1).flatten(1, 2)
        weights = self.attention(features).softmax(dim=1).mT
        places = weights @ _middles(deciding.shape[2], deciding.shape[3], deciding).flatten(0, 1)
        around = 0.5 * _middles(self.rows, self.columns, deciding)
        part = nn.functional.grid_sample(seen.detach(), places[:, 0, None, None] + around, align_corners=False)
        return part, torch.cat([places, weights @ features], dim=2).flatten(1)


def _middles(rows: int, columns: int, like: Tensor) -> Tensor:
    """Where the middle of each pixel is, [rows, columns, 2], across and down, from -1 to 1 over the image."""
    down, across = ((2 * torch.arange(count).to(like) + 1) / count - 1 for count in (rows, columns))
    return torch.stack([across.expand(rows, columns), down[:, None].expand(rows, columns)], dim=-1)
