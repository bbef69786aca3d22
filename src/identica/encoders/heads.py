"""Heads: where unconstrained outputs of a network are mapped onto a space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica._ranks import mean_over_ranks
from identica.encoders.units import SMALLEST_WIDTH, Units, unit_variance
from identica.spaces import Box, Product, Real, Space, Sphere

__all__ = [
    "BoxHead",
    "Head",
    "NormalisedHead",
    "ProductHead",
    "RealHead",
    "Scale",
    "SphereHead",
    "make_head",
]


class Head(nn.Module, ABC):
    """The last part of an encoder, onto a space.

    Attributes:
        dim: Number of codes.
    """

    dim: int

    @abstractmethod
    def units(self, codes: Tensor) -> Units:
        """The units of these codes, a sample of what the head gives: norm 1, range [0, 1], or variance 1."""


@final
class Scale(nn.Module):
    """A learnable positive size s, kept as itself or as its logarithm.

    Args:
        count: How many sizes.
        start: Their first value.
        logarithmic: Learn log s (steps are relative) instead of s.
        learnable: Keep the size fixed if False.
    """

    def __init__(self, count: int, start: float, *, logarithmic: bool = True, learnable: bool = True) -> None:
        super().__init__()
        _checks.positive("start", start)
        self.logarithmic = logarithmic
        value = torch.full((count,), math.log(start) if logarithmic else start)
        self.raw = nn.Parameter(value, requires_grad=learnable)

    def forward(self) -> Tensor:
        """The sizes, [count]."""
        return self.raw.exp() if self.logarithmic else self.raw


@final
class SphereHead(Head):
    """y ↦ r · y / ‖y‖, with a learnable radius r."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points on a sphere of learnt radius."""
        scaled: Tensor = self.scale() * nn.functional.normalize(values, dim=-1)
        return scaled

    def units(self, codes: Tensor) -> Units:
        """Norm 1."""
        return Units(torch.zeros_like(codes[0]), (1 / self.scale().detach()).expand(self.dim))


@final
class BoxHead(Head):
    """y ↦ b · sigmoid(y), with a learnable bound b for each coordinate."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(dim, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points in a box with learnt bounds."""
        scaled: Tensor = self.scale() * torch.sigmoid(values)
        return scaled

    def units(self, codes: Tensor) -> Units:
        """From 0 to 1, whatever the bounds."""
        return Units(torch.zeros_like(codes[0]), 1 / self.scale().detach())


@final
class RealHead(Head):
    """y ↦ s · y, with a fixed or learnable scale s; the paper's unbounded space has s = 1, fixed."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True, learnable: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic, learnable=learnable)

    def forward(self, values: Tensor) -> Tensor:
        """Unbounded points."""
        scaled: Tensor = self.scale() * values
        return scaled

    def units(self, codes: Tensor) -> Units:
        """Mean 0 and variance 1."""
        return unit_variance(codes)


@final
class NormalisedHead(Head):
    """y ↦ s · (y - m) / w, with m the mean and w the width of each output, and a learnable scale s.

    The width is w = 2 ((p + 1) E|y - m|^p)^(1/p): for a uniform law its full width, whatever p. With p = 2 codes are
    standardised and their shape is free: an unbounded space whose scale stands in s, not in the weights, where it
    would run away and saturate the loss. The higher p, the more it is the range that is fixed: p = 5 makes a soft box,
    that favours codes that are uniform over it without the flat ends of a sigmoid. While training, m and w are those of
    the batch; afterwards their running averages.

    Args:
        dim: Number of codes.
        start: First value of s.
        order: p.
        logarithmic: Learn log s instead of s.
        momentum: Weight of the latest batch in the running averages.
    """

    mean: Tensor
    width: Tensor

    def __init__(
        self, dim: int, start: float = 1.0, *, order: float, logarithmic: bool = True, momentum: float = 0.05
    ) -> None:
        super().__init__()
        _checks.positive("order", order)
        self.dim, self.order, self.momentum = dim, order, momentum
        self.scale = Scale(1, start, logarithmic=logarithmic)
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("width", torch.ones(dim))

    def forward(self, values: Tensor) -> Tensor:
        """Points of controlled size."""
        if self.training:
            mean, width = self._measure(values)  # of the whole batch, if several processes share it
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.width.lerp_(width, self.momentum)
        else:
            mean, width = self.mean, self.width
        scaled: Tensor = self.scale() * (values - mean) / width
        return scaled

    def units(self, codes: Tensor) -> Units:
        """The width, or for p = 2 the deviation, is 1; a soft box starts at 0, other codes have mean 0."""
        mean, width = self._measure(codes)
        return Units(mean, math.sqrt(12) / width) if self.order == 2 else Units(mean - width / 2, 1 / width)

    def _measure(self, values: Tensor) -> tuple[Tensor, Tensor]:
        mean = mean_over_ranks(values.mean(dim=0))
        moment = mean_over_ranks((values - mean).abs().pow(self.order).mean(dim=0))
        width = 2 * ((self.order + 1) * moment).pow(1 / self.order)
        return mean, width.clamp_min(SMALLEST_WIDTH)


@final
class ProductHead(Head):
    """The heads of several spaces side by side, each with outputs of its own.

    Args:
        heads: In the order of the spaces.
    """

    def __init__(self, heads: Sequence[Head]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.sizes = [head.dim for head in heads]
        self.dim = sum(self.sizes)

    def forward(self, values: Tensor) -> Tensor:
        """Points in the product of the spaces."""
        pieces = zip(self.heads, torch.split(values, self.sizes, dim=-1), strict=True)
        return torch.cat([head(piece) for head, piece in pieces], dim=-1)

    def units(self, codes: Tensor) -> Units:
        """Those of each space."""
        pieces = zip(self.heads, torch.split(codes, self.sizes, dim=-1), strict=True)
        found = [head.units(piece) for head, piece in pieces if isinstance(head, Head)]
        return Units(torch.cat([one.shift for one in found]), torch.cat([one.factor for one in found]))


# For each space, its head by bounds and the order of its head by moments.
_HEADS: dict[type[Space], tuple[type[SphereHead] | type[BoxHead] | type[RealHead], float | None]] = {
    Sphere: (SphereHead, None),
    Box: (BoxHead, 5.0),
    Real: (RealHead, 2.0),
}


def make_head(space: Space, start: float = 1.0, *, logarithmic: bool = True, normalised: bool = False) -> Head:
    """The head onto a space: a sphere, a box or the unbounded space, or a product; by bounds or by moments."""
    if isinstance(space, Product):
        return ProductHead(
            [make_head(part, start, logarithmic=logarithmic, normalised=normalised) for part in space.parts]
        )
    if type(space) not in _HEADS:
        raise InputError(f"space must be a sphere, a box or unbounded to have a head, got {space}")
    head, order = _HEADS[type(space)]
    if normalised and order is not None:
        return NormalisedHead(space.dim, start, order=order, logarithmic=logarithmic)
    return head(space.dim, start, logarithmic=logarithmic)
