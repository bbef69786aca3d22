"""The unit sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.spaces.base import Noise, Space

__all__ = ["Sphere"]


@final
@dataclass(frozen=True)
class Sphere(Space):
    """Unit sphere {z in R^dim: ‖z‖ = 1}. Noise is added in R^dim and the sum is projected back."""

    name: ClassVar[str] = "sphere"
    place: ClassVar[str] = "a sphere"

    dim: int
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if _checks.at_least_one("dim", self.dim) < 2:
            raise InputError(f"dim must be at least 2 for a sphere, got {self.dim}")

    def __str__(self) -> str:
        return f"the unit sphere in R^{self.dim}"

    @property
    def log_volume(self) -> float:
        return math.log(2.0) + self.dim / 2 * math.log(math.pi) - math.lgamma(self.dim / 2)

    def inside(self, points: Tensor) -> Tensor:
        return (points.norm(dim=-1) - 1).abs() <= self.tolerance  # also False for NaN

    def violation(self, points: Tensor) -> str | None:
        norms = points.norm(dim=-1)
        return None if bool(self.inside(points).all()) else f"norms span [{norms.min():.3g}, {norms.max():.3g}]"

    def project(self, points: Tensor) -> Tensor:
        return torch.nn.functional.normalize(points, dim=-1)

    def confine(self, mean: Tensor, noise: Noise) -> Tensor:
        return self.project(mean + noise(tuple(mean.shape), None))

    def centre(self) -> Tensor:
        pole = torch.zeros(self.dim)
        pole[0] = 1.0
        return pole

    def uniform(self, count: int, generator: Generator) -> Tensor:
        return self.project(torch.randn(count, self.dim, generator=generator, device=generator.device))
