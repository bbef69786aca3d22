"""What the residual networks for small images share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders._layers import BatchNorm, convolution, linear
from identica.encoders.resnet import ResidualBlock, memory_format_of

__all__ = ["SmallResNet", "halving_blocks", "make_projection"]

_SLOPE = 0.01
_PATCH = 5
_PATCH_STRIDE = 3  # of those that are measured
_SMALLEST_IMAGE, _SMALLEST_MAP = 16, 4


class SmallResNet(nn.Module, ABC):
    """A first convolution that halves an image, its batch norm, and layers behind them that a subclass makes.

    Args:
        channels: Number of channels of an image.
        height: Its height in pixels, 16 or more.
        width: Its width in pixels, 16 or more.
        outputs: Number of codes.
        generator: Source of the initial weights.
        first: Channels of the first convolution.
    """

    def __init__(
        self, channels: int, height: int, width: int, outputs: int, *, generator: Generator, first: int = 24
    ) -> None:
        super().__init__()
        for name, value in (("channels", channels), ("outputs", outputs), ("first", first)):
            _checks.at_least_one(name, value)
        for name, value in (("height", height), ("width", width)):
            _checks.at_least(name, value, _SMALLEST_IMAGE)
        self.shape = (channels, height, width)
        self.memory_format = memory_format_of(first)
        stem = convolution(
            channels, first, _PATCH, generator=generator, stride=2, padding=_PATCH // 2, bias=False, mode="fan_out"
        )
        normed = nn.Sequential(stem, BatchNorm(first, device=generator.device))
        self._build(normed, first, -(-height // 2), -(-width // 2), outputs, generator)
        self.to(memory_format=self.memory_format)  # type: ignore[call-overload]

    @abstractmethod
    def _build(
        self, stem: nn.Sequential, maps: int, rows: int, columns: int, outputs: int, generator: Generator
    ) -> None:
        """Keep the stem, which gives so many maps of so many rows and columns, and make the layers behind it."""

    @abstractmethod
    def _codes(self, images: Tensor) -> Tensor:
        """Unconstrained codes of images that have the right shape, type and order in memory."""

    def begin_at_patches(self, images: Tensor) -> None:
        """Let the filters of the first convolution be the principal components of patches of these images."""
        stem = next(module for module in self.modules() if isinstance(module, nn.Conv2d))
        patches = nn.functional.unfold(images.float().contiguous(), _PATCH, stride=_PATCH_STRIDE)
        rows = patches.movedim(1, 2).flatten(0, 1).double()
        _, directions = torch.linalg.eigh(rows.T.cov())
        filters = directions.flip(1).T[: len(stem.weight)].reshape(-1, *stem.weight.shape[1:])
        with torch.no_grad():  # batch norm makes their outputs even
            stem.weight[: len(filters)] = filters.to(stem.weight)

    def forward(self, images: Tensor) -> Tensor:
        """Unconstrained codes of `images`, [count, channels, height, width], floating point or bytes."""
        if images.shape[1:] != self.shape:
            expected = ", ".join(map(str, self.shape))
            raise InputError(f"images must have shape [count, {expected}], got {list(images.shape)}")
        values = images if images.is_floating_point() else images.float()
        return self._codes(values.contiguous(memory_format=self.memory_format))


def halving_blocks(maps: int, rows: int, columns: int, generator: Generator) -> tuple[list[ResidualBlock], int]:
    """Residual blocks until 4 pixels or so remain on the smaller side, and the number of features that then remain."""
    blocks = []
    while min(rows, columns) >= 2 * _SMALLEST_MAP:
        blocks.append(ResidualBlock(maps, 2 * maps, 2, generator))
        maps, rows, columns = 2 * maps, -(-rows // 2), -(-columns // 2)
    return blocks, maps * rows * columns


def make_projection(features: int, outputs: int, generator: Generator) -> nn.Sequential:
    """From features to codes, by way of ten times as many."""
    return nn.Sequential(
        linear(features, 10 * outputs, _SLOPE, "kaiming", generator),
        nn.LeakyReLU(_SLOPE, inplace=True),
        linear(10 * outputs, outputs, _SLOPE, "kaiming", generator),
    )
