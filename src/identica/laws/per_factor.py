"""A law of its own for each factor."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.laws.base import Law
from identica.laws.noise import AdditiveNoise
from identica.spaces import Space

__all__ = ["PerFactor"]


@final
@dataclass(frozen=True)
class PerFactor(Law):
    """Independent noise, of another law for each coordinate.

    Args:
        parts: A law for each coordinate, in order.
    """

    parts: tuple[AdditiveNoise, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, AdditiveNoise) or isinstance(part.scale, tuple):
                raise InputError(f"parts must be noise of one scale each, got {part}")

    def __str__(self) -> str:
        groups = [(str(part), len(list(group))) for part, group in itertools.groupby(self.parts)]
        return "; ".join(f"{count}*{part}" if count > 1 else part for part, count in groups)

    def check(self, space: Space) -> None:
        if len(self.parts) != space.dim:
            raise InputError(f"{self} must have a law for each of the {space.dim} coordinates, got {len(self.parts)}")

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        def noise(shape: tuple[int, ...], columns: Tensor | None) -> Tensor:
            if columns is None:
                columns = torch.arange(shape[-1], device=mean.device).expand(shape)
            drawn = mean.new_empty(shape)
            for index, part in enumerate(self.parts):
                ours = columns == index
                drawn[ours] = part.noise((int(ours.sum()),), None, mean, generator)
            return drawn

        return space.confine(mean, noise)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        raise InputError(f"{self} has no density here: ask its parts, one coordinate at a time")
