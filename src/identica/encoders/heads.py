"""Heads: where unconstrained outputs of a network are mapped onto a space."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from identica import _checks

__all__ = ["BoxHead", "NormalisedHead", "RealHead", "Scale", "SphereHead", "make_head"]

_ORDERS = {"unbounded": 2.0, "box": 5.0}
_SMALLEST_WIDTH = 1e-6


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

    @torch.no_grad()
    def set(self, value: float) -> None:
        """Set all sizes to one value."""
        self.raw.fill_(math.log(value) if self.logarithmic else value)


@final
class SphereHead(nn.Module):
    """y ↦ r · y / ‖y‖, with a learnable radius r."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points on a sphere of learnt radius."""
        scaled: Tensor = self.scale() * nn.functional.normalize(values, dim=-1)
        return scaled


@final
class BoxHead(nn.Module):
    """y ↦ b · sigmoid(y), with a learnable bound b for each coordinate."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(dim, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points in a box with learnt bounds."""
        scaled: Tensor = self.scale() * torch.sigmoid(values)
        return scaled


@final
class RealHead(nn.Module):
    """y ↦ s · y, with a fixed or learnable scale s; the paper's unbounded space has s = 1, fixed."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True, learnable: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic, learnable=learnable)

    def forward(self, values: Tensor) -> Tensor:
        """Unbounded points."""
        scaled: Tensor = self.scale() * values
        return scaled


@final
class NormalisedHead(nn.Module):
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
            mean, width = self._measure(values)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.width.lerp_(width, self.momentum)
        else:
            mean, width = self.mean, self.width
        scaled: Tensor = self.scale() * (values - mean) / width
        return scaled

    @torch.no_grad()
    def settle(self, values: Tensor) -> None:
        """Replace the running averages by the moments of these outputs."""
        mean, width = self._measure(values)
        self.mean.copy_(mean)
        self.width.copy_(width)

    def _measure(self, values: Tensor) -> tuple[Tensor, Tensor]:
        mean = values.mean(dim=0)
        moment = (values - mean).abs().pow(self.order).mean(dim=0)
        width = 2 * ((self.order + 1) * moment).pow(1 / self.order)
        return mean, width.clamp_min(_SMALLEST_WIDTH)


def make_head(
    space: str, dim: int, start: float = 1.0, *, logarithmic: bool = True, normalised: bool = False
) -> nn.Module:
    """The head onto the space a user names: `sphere`, `box` or `unbounded`; the last two by bounds or by moments."""
    _checks.choice("space", space, ("sphere", "box", "unbounded"))
    if normalised and space != "sphere":
        return NormalisedHead(dim, start, order=_ORDERS[space], logarithmic=logarithmic)
    heads: dict[str, type[SphereHead] | type[BoxHead] | type[RealHead]] = {
        "sphere": SphereHead,
        "box": BoxHead,
        "unbounded": RealHead,
    }
    return heads[space](dim, start, logarithmic=logarithmic)
