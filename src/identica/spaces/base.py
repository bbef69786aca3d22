"""What a space is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError

__all__ = ["Noise", "Space"]

Noise = Callable[[tuple[int, ...], Tensor | None], Tensor]
"""Draws independent noise of that shape; for a flat shape, with the coordinate that each number belongs to."""


class Space(ABC):
    """A set of points with `dim` coordinates.

    Attributes:
        dim: Number of coordinates.
        name: What users and tables call spaces of this kind.
        place: The same as a place in a sentence.
    """

    dim: int
    name: ClassVar[str]
    place: ClassVar[str]

    @property
    @abstractmethod
    def log_volume(self) -> float:
        """Logarithm of the volume (on the sphere: of the surface); infinite if unbounded."""

    @abstractmethod
    def inside(self, points: Tensor) -> Tensor:
        """Which rows of `points` are in the space, as booleans."""

    @abstractmethod
    def violation(self, points: Tensor) -> str | None:
        """Say why some of `points` are not in the space, or None if all are."""

    @abstractmethod
    def project(self, points: Tensor) -> Tensor:
        """Nearest points of the space."""

    @abstractmethod
    def confine(self, mean: Tensor, noise: Noise) -> Tensor:
        """Add noise to `mean`, each row a point of the space, so that the sum is in the space."""

    @abstractmethod
    def centre(self) -> Tensor:
        """The point that marginals are centred on: the origin, the middle of a box, the pole of a sphere."""

    @abstractmethod
    def uniform(self, count: int, generator: Generator) -> Tensor:
        """Draw points uniformly."""

    def check(self, name: str, points: Tensor) -> Tensor:
        """Return `points` if all are in the space; otherwise raise, naming the argument."""
        _checks.columns(name, points, self.dim)
        reason = self.violation(points)
        if reason is not None:
            raise InputError(f"{name} must lie in {self}, but {reason}")
        return points
