"""The law that favours no point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.laws.base import Law
from identica.spaces import Space

__all__ = ["Uniform"]


@final
@dataclass(frozen=True)
class Uniform(Law):
    """p(z) = 1 / |Z|, wherever the mean is."""

    def __str__(self) -> str:
        return "uniform"

    def check(self, space: Space) -> None:
        if math.isinf(space.log_volume):
            raise InputError(f"the uniform law needs a bounded space (sphere or box), got {space}")

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        return space.uniform(mean.shape[0], generator)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        return torch.where(space.inside(points), -space.log_volume, -math.inf).to(points.dtype)
