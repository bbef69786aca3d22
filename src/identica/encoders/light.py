"""The residual network for small images: a few wide stages, made for processors."""

from __future__ import annotations

from typing import final

from torch import Generator, Tensor, nn

from identica.encoders._small_resnet import SmallResNet, halving_blocks, make_projection

__all__ = ["LightResNet"]


@final
class LightResNet(SmallResNet):
    """W_2 φ(W_1 h(x)), with h the features of a small residual network and φ a leaky ReLU between 10N and N outputs.

    h is a 5×5 convolution of stride 2, and then residual blocks, each of which halves the image and doubles the
    channels until 4 pixels or so remain on the smaller side. What remains is not averaged: where something is in the
    image is what many factors are about. `begin_at_patches` lets the first convolution begin at what patches of images
    differ in: the shape of an object is in small differences, which large ones of colour would hide at first.

    Args:
        channels: Number of channels of an image.
        height: Its height in pixels, 16 or more.
        width: Its width in pixels, 16 or more.
        outputs: Number N of codes.
        generator: Source of the initial weights.
        first: Channels of the first convolution.
    """

    def _build(
        self, stem: nn.Sequential, maps: int, rows: int, columns: int, outputs: int, generator: Generator
    ) -> None:
        blocks, features = halving_blocks(maps, rows, columns, generator)
        self.features = nn.Sequential(*stem, *blocks, nn.Flatten())
        self.projection = make_projection(features, outputs, generator)

    def _codes(self, images: Tensor) -> Tensor:
        codes: Tensor = self.projection(self.features(images))
        return codes
