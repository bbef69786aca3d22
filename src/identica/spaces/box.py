"""Boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.spaces.base import Noise, Space

__all__ = ["Box"]

_MAX_REDRAWS = 10_000


@final
@dataclass(frozen=True)
class Box(Space):
    """Hyperrectangle Π_k [low_k, high_k]. Noise that leaves it is drawn again, coordinate by coordinate.

    Args:
        dim: Number of coordinates.
        low: Lower bound, one for all coordinates or one each.
        high: Upper bound, likewise.
    """

    name: ClassVar[str] = "box"
    place: ClassVar[str] = "a box"

    dim: int
    low: float | tuple[float, ...] = 0.0
    high: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        _checks.at_least_one("dim", self.dim)
        for name, bound in (("low", self.low), ("high", self.high)):
            if isinstance(bound, tuple) and len(bound) != self.dim:
                raise InputError(f"{name} must have {self.dim} entries, one for each coordinate, got {len(bound)}")
        for low, high in zip(*self._bounds(), strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise InputError(f"low must be below high and both finite, got low {low:g}, high {high:g}")

    def __str__(self) -> str:
        if isinstance(self.low, tuple) or isinstance(self.high, tuple):
            return " × ".join(f"[{low:g}, {high:g}]" for low, high in zip(*self._bounds(), strict=True))
        return f"the box [{self.low:g}, {self.high:g}]^{self.dim}"

    @property
    def log_volume(self) -> float:
        return sum(math.log(high - low) for low, high in zip(*self._bounds(), strict=True))

    def bounds(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Lower and upper bounds, [dim] each, with the device and precision of `like`."""
        low, high = self._bounds()
        return like.new_tensor(low), like.new_tensor(high)

    def inside(self, points: Tensor) -> Tensor:
        low, high = self.bounds(points)
        return ((points >= low) & (points <= high)).all(dim=-1)

    def violation(self, points: Tensor) -> str | None:
        span = f"coordinates span [{points.min():.3g}, {points.max():.3g}]" if points.numel() else ""
        return None if bool(self.inside(points).all()) else span

    def project(self, points: Tensor) -> Tensor:
        low, high = self.bounds(points)
        return torch.minimum(torch.maximum(points, low), high)

    def confine(self, mean: Tensor, noise: Noise) -> Tensor:
        self.check("mean", mean)
        low, high = (bound.expand_as(mean).reshape(-1) for bound in self.bounds(mean))
        centre = mean.reshape(-1)
        columns = torch.arange(self.dim, device=mean.device).repeat(len(mean))
        points = centre + noise((centre.numel(),), columns)
        outside = ((points < low) | (points > high)).nonzero().squeeze(1)
        for _ in range(_MAX_REDRAWS):
            if outside.numel() == 0:
                return points.view_as(mean)
            drawn = centre[outside] + noise((outside.numel(),), columns[outside])
            points[outside] = drawn
            outside = outside[(drawn < low[outside]) | (drawn > high[outside])]
        raise InputError(f"the noise is too wide for {self}: {outside.numel()} coordinates still leave it")

    def centre(self) -> Tensor:
        low, high = self._bounds()
        return (torch.tensor(low) + torch.tensor(high)) / 2

    def uniform(self, count: int, generator: Generator) -> Tensor:
        unit = torch.rand(count, self.dim, generator=generator, device=generator.device)
        low, high = self.bounds(unit)
        return low + (high - low) * unit

    def _bounds(self) -> tuple[list[float], list[float]]:
        low, high = self.low, self.high
        lows = list(low) if isinstance(low, tuple) else [low] * self.dim
        highs = list(high) if isinstance(high, tuple) else [high] * self.dim
        return lows, highs
