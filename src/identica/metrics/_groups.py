"""Groups of codes whose observations share the value of one factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.random import Generator

from identica._checks import InputError
from identica.metrics._inputs import Array
from identica.metrics._kinds import Kinds, Labels, labels, read_kinds

__all__ = ["DrawGroups", "SharedRows", "drawn", "fixing", "random_groups"]


class DrawGroups(Protocol):
    """Draws codes in groups; within a group, one factor has one value, and the others are as they come."""

    def __call__(self, factor: int | None, groups: int, size: int, generator: Generator, /) -> Any:
        """Codes, [groups, size, outputs]; with None for the factor, none is fixed."""
        ...


def fixing(sample: Callable[[int, Generator], Any], encode: Callable[[Array], Any]) -> DrawGroups:
    """Draws for scores that intervene on factors, from a source that shows observations of given factors.

    Args:
        sample: Factors as the source draws them: from a count and a generator, [count, factors].
        encode: Codes of observations that have these factors, [count, outputs].

    Example:
        >>> draw = fixing(lambda count, generator: generator.uniform(size=(count, 3)), lambda factors: 2 * factors)
        >>> pairs = draw(1, 100, 2, np.random.default_rng(0))
        >>> pairs.shape, (np.ptp(pairs, axis=1) == 0).all(axis=0)
        ((100, 2, 3), array([False,  True, False]))
    """

    def draw(factor: int | None, groups: int, size: int, generator: Generator, /) -> Array:
        factors = np.array(sample(groups * size, generator), dtype=np.float64).reshape(groups, size, -1)
        if factor is not None:
            factors[:, :, factor] = factors[:, :1, factor]
        codes = encode(factors.reshape(groups * size, -1))
        codes = codes.detach().cpu().numpy() if hasattr(codes, "detach") else codes
        return np.asarray(codes, dtype=np.float64).reshape(groups, size, -1)

    return draw


@final
@dataclass(frozen=True)
class SharedRows:
    """Rows of arrays, in groups that share the class of a factor.

    Args:
        classes: Of each factor; continuous and circular ones are binned.
    """

    classes: tuple[Labels, ...]

    @classmethod
    def of(cls, factors: Array, kinds: Kinds) -> SharedRows:
        """The groups of these factors."""
        found = tuple(labels(factors[:, index], kind) for index, kind in enumerate(read_kinds(kinds, factors)))
        for index, classes in enumerate(found):
            if np.bincount(classes).max() < 2:
                raise InputError(f"latents must have samples that share a value, but in column {index} no two do")
        return cls(found)

    def draws(self, codes: Array) -> DrawGroups:
        """Groups of these codes."""
        orders = [np.argsort(classes, kind="stable") for classes in self.classes]

        def draw(factor: int | None, groups: int, size: int, generator: Generator, /) -> Array:
            if factor is None:
                return codes[generator.integers(len(codes), size=(groups, size))]
            counts = np.bincount(self.classes[factor])
            shared = np.where(counts >= 2, counts, 0)
            chosen = generator.choice(len(counts), size=groups, p=shared / shared.sum())
            # The first of a group is any sample of its class; the others are any but the first.
            first = generator.integers(counts[chosen])
            steps = generator.integers(1, counts[chosen][:, None], size=(groups, size - 1))
            places = np.column_stack([first, (first[:, None] + steps) % counts[chosen][:, None]])
            starts = np.cumsum(counts) - counts
            return codes[orders[factor][starts[chosen][:, None] + places]]

        return draw


def random_groups(outputs: int) -> DrawGroups:
    """Codes that know nothing of the factors."""

    def draw(factor: int | None, groups: int, size: int, generator: Generator, /) -> Array:
        return generator.standard_normal((groups, size, outputs))

    return draw


def drawn(draw: DrawGroups, factor: int | None, groups: int, size: int, generator: Generator) -> Array:
    """What a draw gives, or an error in one line."""
    found = np.asarray(draw(factor, groups, size, generator), dtype=np.float64)
    if found.ndim != 3 or found.shape[:2] != (groups, size):
        raise InputError(f"draw must give codes of shape [{groups}, {size}, outputs], got {list(found.shape)}")
    if not np.isfinite(found).all():
        raise InputError(f"draw must give finite codes, got {int((~np.isfinite(found)).sum())} NaN or infinite")
    return found
