"""The space without bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.spaces.base import Noise, Space

__all__ = ["Real"]


@final
@dataclass(frozen=True)
class Real(Space):
    """All of R^dim. Noise is added and nothing else happens."""

    name: ClassVar[str] = "unbounded"
    place: ClassVar[str] = "unbounded space"

    dim: int

    def __post_init__(self) -> None:
        _checks.at_least_one("dim", self.dim)

    def __str__(self) -> str:
        return f"R^{self.dim}"

    @property
    def log_volume(self) -> float:
        return math.inf

    def inside(self, points: Tensor) -> Tensor:
        return torch.isfinite(points).all(dim=-1)

    def violation(self, points: Tensor) -> str | None:
        bad = int((~self.inside(points)).sum())
        return None if bad == 0 else f"{bad} of {len(points)} points are NaN or infinite"

    def project(self, points: Tensor) -> Tensor:
        return points

    def confine(self, mean: Tensor, noise: Noise) -> Tensor:
        return mean + noise(tuple(mean.shape), None)

    def centre(self) -> Tensor:
        return torch.zeros(self.dim)

    def uniform(self, count: int, generator: Generator) -> Tensor:
        raise InputError(f"{self} has no uniform law: it is unbounded")
