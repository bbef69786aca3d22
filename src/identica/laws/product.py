"""Laws side by side, each on coordinates of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Generator, Tensor

from identica import spaces
from identica._checks import InputError
from identica.laws.base import Law
from identica.spaces import Space

__all__ = ["ProductLaw"]


@final
@dataclass(frozen=True)
class ProductLaw(Law):
    """Independent laws on the parts of a product space, in order."""

    parts: tuple[Law, ...]

    def __str__(self) -> str:
        return " × ".join(str(part) for part in self.parts)

    def check(self, space: Space) -> None:
        for part, where in zip(self.parts, self._parts(space).parts, strict=True):
            part.check(where)

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        whole = self._parts(space)
        pieces = zip(self.parts, whole.parts, whole.split(mean), strict=True)
        return torch.cat([law.sample(where, piece, generator) for law, where, piece in pieces], dim=1)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        whole = self._parts(space)
        pieces = zip(self.parts, whole.parts, whole.split(points), whole.split(mean), strict=True)
        return torch.stack([law.log_prob(where, point, centre) for law, where, point, centre in pieces]).sum(dim=0)

    def _parts(self, space: Space) -> spaces.Product:
        if not isinstance(space, spaces.Product) or len(space.parts) != len(self.parts):
            raise InputError(f"a product of {len(self.parts)} laws needs a product of as many spaces, got {space}")
        return space
