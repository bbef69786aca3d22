"""The residual network for small images: a few wide stages, made for processors."""

from __future__ import annotations

from typing import final

from torch import Generator, Tensor, nn

from identica.encoders._light_parts import (
    as_maps,
    begin_at_patches,
    check_sizes,
    halving_blocks,
    make_projection,
    make_stem,
)
from identica.encoders.resnet import memory_format_of

__all__ = ["LightResNet"]


@final
class LightResNet(nn.Module):
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

    def __init__(
        self, channels: int, height: int, width: int, outputs: int, *, generator: Generator, first: int = 24
    ) -> None:
        super().__init__()
        check_sizes(channels, height, width, outputs, first)
        self.shape = (channels, height, width)
        stem = make_stem(channels, first, generator)
        blocks, features = halving_blocks(first, -(-height // 2), -(-width // 2), generator)
        self.features = nn.Sequential(*stem, *blocks, nn.Flatten())
        self.projection = make_projection(features, outputs, generator)
        self.memory_format = memory_format_of(first)
        self.to(memory_format=self.memory_format)  # type: ignore[call-overload]

    def begin_at_patches(self, images: Tensor) -> None:
        """Let the filters of the first convolution be the principal components of patches of these images."""
        begin_at_patches(self.features[0], images)

    def forward(self, images: Tensor) -> Tensor:
        """Unconstrained codes of `images`, [count, channels, height, width], floating point or bytes."""
        values = as_maps(images, self.shape, self.memory_format)
        codes: Tensor = self.projection(self.features(values))
        return codes
