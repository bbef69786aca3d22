"""A grid of factors: every combination of some values of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self, final

import torch
from torch import Tensor

from identica._checks import InputError
from identica.sources.base import Factor

__all__ = ["Grid"]


@final
@dataclass(frozen=True)
class Grid:
    """All combinations of the values of some factors, in the order in which the last factor changes fastest.

    A class is the number of a value among those kept, from 0; a place is the number of a combination.

    Args:
        factors: What the columns are.
        whole: How many values each of them has.
        kept: Which of them are on this grid, rising; all if not given.

    Example:
        >>> grid = Grid((Factor("shape", "categorical"), Factor("x", "ordinal")), (3, 10))
        >>> grid.classes(torch.tensor([12]))
        tensor([[1, 2]])
        >>> grid.places(torch.tensor([[1, 2]]))
        tensor([12])
        >>> grid.part(torch.tensor([[0, 5], [2, 8]])).sizes
        (2, 2)
    """

    factors: tuple[Factor, ...]
    whole: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if len(self.factors) != len(self.whole):
            raise InputError(f"whole must hold one size for each of {len(self.factors)} factors, got {self.whole}")
        if not self.kept:
            object.__setattr__(self, "kept", tuple(tuple(range(size)) for size in self.whole))
        if any(size < 2 for size in self.sizes):
            raise InputError(f"factors must each have 2 values or more, got {', '.join(map(str, self.sizes))}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values of each factor are kept."""
        return tuple(map(len, self.kept))

    @property
    def count(self) -> int:
        """Number of combinations."""
        return math.prod(self.sizes)

    def part(self, classes: Tensor) -> Self:
        """The smallest grid with these combinations of a whole grid, [count, factors]."""
        return type(self)(self.factors, self.whole, tuple(tuple(column.unique().tolist()) for column in classes.T))

    def marks(self, column: int) -> Tensor:
        """Numbers of the kept values of a factor among all of its values."""
        return torch.tensor(self.kept[column])

    def from_whole(self, classes: Tensor) -> Tensor:
        """Classes on this grid of combinations of the whole grid, all of which it has, [count, factors]."""
        columns = [torch.searchsorted(self.marks(place), column) for place, column in enumerate(classes.T.contiguous())]
        return torch.stack(columns, dim=1)

    def classes(self, places: Tensor) -> Tensor:
        """Classes of the combinations at these places, […, factors]."""
        columns = []
        for size in reversed(self.sizes):
            columns.append(places % size)
            places = places // size
        return torch.stack(columns[::-1], dim=-1)

    def places(self, classes: Tensor) -> Tensor:
        """Places of combinations, of classes […, factors]."""
        place = classes[..., 0]
        for column, size in enumerate(self.sizes[1:], start=1):
            place = place * size + classes[..., column]
        return place
