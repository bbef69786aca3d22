"""Spaces side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.spaces.base import Noise, Space

__all__ = ["Product"]


@final
@dataclass(frozen=True)
class Product(Space):
    """Cartesian product of spaces; each owns a slice of the coordinates."""

    name: ClassVar[str] = "product"
    place: ClassVar[str] = "a product of spaces"

    parts: tuple[Space, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("parts must hold at least one space, got none")

    def __str__(self) -> str:
        return " × ".join(str(part) for part in self.parts)

    @property
    def dim(self) -> int:  # type: ignore[override]
        """Total number of coordinates."""
        return sum(part.dim for part in self.parts)

    @property
    def log_volume(self) -> float:
        return sum(part.log_volume for part in self.parts)

    def split(self, points: Tensor) -> tuple[Tensor, ...]:
        """Cut the coordinates into those of each part."""
        return torch.split(points, [part.dim for part in self.parts], dim=-1)

    def inside(self, points: Tensor) -> Tensor:
        pieces = zip(self.parts, self.split(points), strict=True)
        return torch.stack([part.inside(piece) for part, piece in pieces]).all(dim=0)

    def violation(self, points: Tensor) -> str | None:
        for index, (part, piece) in enumerate(zip(self.parts, self.split(points), strict=True)):
            reason = part.violation(piece)
            if reason is not None:
                return f"in part {index} ({part}) {reason}"
        return None

    def project(self, points: Tensor) -> Tensor:
        pieces = zip(self.parts, self.split(points), strict=True)
        return torch.cat([part.project(piece) for part, piece in pieces], dim=-1)

    def confine(self, mean: Tensor, noise: Noise) -> Tensor:
        confined, first = [], 0
        for part, piece in zip(self.parts, self.split(mean), strict=True):
            confined.append(part.confine(piece, _of_coordinates_from(first, noise, mean.device)))
            first += part.dim
        return torch.cat(confined, dim=-1)

    def centre(self) -> Tensor:
        return torch.cat([part.centre() for part in self.parts])

    def uniform(self, count: int, generator: Generator) -> Tensor:
        return torch.cat([part.uniform(count, generator) for part in self.parts], dim=-1)


def _of_coordinates_from(first: int, noise: Noise, device: torch.device) -> Noise:
    """Noise for a part whose coordinates start there in the whole."""

    def shifted(shape: tuple[int, ...], columns: Tensor | None) -> Tensor:
        if columns is None:
            columns = torch.arange(shape[-1], device=device).expand(shape)
        return noise(shape, first + columns)

    return shifted
