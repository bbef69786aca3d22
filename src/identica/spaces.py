"""Where latents live: a constraint, a way back into it, and a membership check that explains itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError

__all__ = ["NAMED_SPACES", "Box", "Noise", "Product", "Real", "Space", "Sphere", "parse_space"]

Noise = Callable[[tuple[int, ...]], Tensor]
"""Draws independent noise of the asked shape."""

_MAX_REDRAWS = 10_000


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
        return mean + noise(tuple(mean.shape))

    def centre(self) -> Tensor:
        return torch.zeros(self.dim)

    def uniform(self, count: int, generator: Generator) -> Tensor:
        raise InputError(f"{self} has no uniform law: it is unbounded")


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
        return self.project(mean + noise(tuple(mean.shape)))

    def centre(self) -> Tensor:
        pole = torch.zeros(self.dim)
        pole[0] = 1.0
        return pole

    def uniform(self, count: int, generator: Generator) -> Tensor:
        return self.project(torch.randn(count, self.dim, generator=generator, device=generator.device))


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
        points = centre + noise((centre.numel(),))
        outside = ((points < low) | (points > high)).nonzero().squeeze(1)
        for _ in range(_MAX_REDRAWS):
            if outside.numel() == 0:
                return points.view_as(mean)
            drawn = centre[outside] + noise((outside.numel(),))
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
        pieces = zip(self.parts, self.split(mean), strict=True)
        return torch.cat([part.confine(piece, noise) for part, piece in pieces], dim=-1)

    def centre(self) -> Tensor:
        return torch.cat([part.centre() for part in self.parts])

    def uniform(self, count: int, generator: Generator) -> Tensor:
        return torch.cat([part.uniform(count, generator) for part in self.parts], dim=-1)


NAMED_SPACES: dict[str, type[Sphere] | type[Box] | type[Real]] = {space.name: space for space in (Sphere, Box, Real)}
"""The spaces that a user can name, the most restrictive first."""


def parse_space(name: str, dim: int) -> Space:
    """The space a user names: `sphere`, `box` ([0, 1]^dim) or `unbounded`."""
    return NAMED_SPACES[_checks.choice("space", name, NAMED_SPACES)](dim)
