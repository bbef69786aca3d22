"""The convolutional network for small images."""

from __future__ import annotations

from itertools import pairwise
from typing import final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders._layers import convolution, linear
from identica.encoders._stages import FEATURES, halved

__all__ = ["ConvNet"]


@final
class ConvNet(nn.Sequential):
    """Convolutions that halve the image, one that covers what remains, and a linear layer; ReLUs between them.

    At 64×64 pixels: 32, 32, 64, 64 channels (4×4, stride 2, padding 1), then 256 (4×4, no padding). Other sizes have as
    many halving stages as leave 4 pixels or more on the smaller side, with 64 channels from the third on.

    With `fold`, the pixels of each square of so many a side are channels of one pixel first. Nothing is lost, there
    is a stage less for each doubling, and at 64×64 it takes about a third of the time.

    Args:
        channels: Number of channels of an image.
        height: Its height in pixels, 16 or more.
        width: Its width in pixels, 16 or more.
        outputs: Number of codes.
        generator: Source of the initial weights.
        fold: Pixels a side that become channels; height and width must be multiples of it.
    """

    def __init__(
        self, channels: int, height: int, width: int, outputs: int, *, generator: Generator, fold: int = 1
    ) -> None:
        stages = halved(channels, height, width, fold)
        _checks.at_least_one("outputs", outputs)
        layers: list[nn.Module] = []
        for (fan_in, _, _), (fan_out, _, _) in pairwise(stages):
            layers += [convolution(fan_in, fan_out, 4, stride=2, padding=1, generator=generator), nn.ReLU(inplace=True)]
        fan_in, rows, columns = stages[-1]
        layers += [convolution(fan_in, FEATURES, (rows, columns), generator=generator), nn.ReLU(inplace=True)]
        layers += [nn.Flatten(), linear(FEATURES, outputs, 0.0, "kaiming", generator)]
        super().__init__(*layers)
        self.shape, self.fold = (channels, height, width), fold
        # Channels side by side in memory: several times as fast on processors, and no slower elsewhere.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: Tensor) -> Tensor:
        """Unconstrained codes of `images`, [count, channels, height, width], floating point or bytes."""
        # Without this, images a few pixels larger would pass, and lose their border.
        if images.shape[1:] != self.shape:
            expected = ", ".join(map(str, self.shape))
            raise InputError(f"images must have shape [count, {expected}], got {list(images.shape)}")
        values = images if images.is_floating_point() else images.float()
        values = values.contiguous(memory_format=torch.channels_last) if self.fold == 1 else _folded(values, self.fold)
        codes: Tensor = super().forward(values)  # type: ignore[no-untyped-call]
        return codes


def _folded(images: Tensor, fold: int) -> Tensor:
    """As `nn.PixelUnshuffle`, with channels side by side in memory."""
    count, channels, height, width = images.shape
    squares = images.reshape(count, channels, height // fold, fold, width // fold, fold)
    pixels = squares.permute(0, 2, 4, 1, 3, 5).reshape(count, height // fold, width // fold, -1)
    return pixels.permute(0, 3, 1, 2)
