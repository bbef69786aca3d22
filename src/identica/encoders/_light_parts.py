"""What the residual networks for small images are made of."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders._layers import BatchNorm, convolution, linear
from identica.encoders.resnet import ResidualBlock

__all__ = ["as_maps", "begin_at_patches", "check_sizes", "halving_blocks", "make_projection", "make_stem"]

_SLOPE = 0.01
_PATCH = 5
_PATCH_STRIDE = 3  # of those that are measured
_SMALLEST_IMAGE, _SMALLEST_MAP = 16, 4


def check_sizes(channels: int, height: int, width: int, outputs: int, first: int) -> None:
    """Refuse images that are too small, and nothing of anything."""
    for name, value in (("channels", channels), ("outputs", outputs), ("first", first)):
        _checks.at_least_one(name, value)
    for name, value in (("height", height), ("width", width)):
        _checks.at_least(name, value, _SMALLEST_IMAGE)


def make_stem(channels: int, first: int, generator: Generator) -> nn.Sequential:
    """The first convolution and its batch norm, which halve an image."""
    stem = convolution(
        channels, first, _PATCH, generator=generator, stride=2, padding=_PATCH // 2, bias=False, mode="fan_out"
    )
    return nn.Sequential(stem, BatchNorm(first, device=generator.device))


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


def begin_at_patches(stem: nn.Module, images: Tensor) -> None:
    """Let the filters of this convolution be the principal components of patches of these images."""
    assert isinstance(stem, nn.Conv2d)
    patches = nn.functional.unfold(images.float().contiguous(), _PATCH, stride=_PATCH_STRIDE)
    rows = patches.movedim(1, 2).flatten(0, 1).double()
    _, directions = torch.linalg.eigh(rows.T.cov())
    filters = directions.flip(1).T[: len(stem.weight)].reshape(-1, *stem.weight.shape[1:])
    with torch.no_grad():  # batch norm makes their outputs even
        stem.weight[: len(filters)] = filters.to(stem.weight)


def as_maps(images: Tensor, shape: tuple[int, int, int], memory_format: torch.memory_format) -> Tensor:
    """Images as numbers in this order in memory; an error if they have another shape."""
    if images.shape[1:] != shape:
        expected = ", ".join(map(str, shape))
        raise InputError(f"images must have shape [count, {expected}], got {list(images.shape)}")
    values = images if images.is_floating_point() else images.float()
    return values.contiguous(memory_format=memory_format)
