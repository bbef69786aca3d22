"""What the values of factors are, and what follows: classes to count, numbers to predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica.metrics._inputs import Array

__all__ = ["BINS", "Kind", "Kinds", "Labels", "code_bins", "is_counted", "labels", "numbers", "read_kinds"]

Kind = Literal["continuous", "circular", "ordinal", "categorical"]
Kinds = Sequence[str] | str | None
Labels = NDArray[np.int64]

BINS = 20
# More distinct values than this are numbers, not classes.
_MOST_VALUES = 100


def read_kinds(kinds: Kinds, factors: Array) -> tuple[Kind, ...]:
    """One kind for each factor: as declared, or ordinal for whole numbers of few distinct values, else continuous."""
    count = factors.shape[1]
    if kinds is None:
        return tuple("ordinal" if _is_whole(column) and _is_short(column) else "continuous" for column in factors.T)
    named = [kinds] * count if isinstance(kinds, str) else list(kinds)
    for kind in named:
        _checks.choice("kind", kind, get_args(Kind))
    if len(named) != count:
        raise InputError(f"kinds must have one entry for each of the {count} factors, got {len(named)}")
    for index, kind in enumerate(named):
        distinct = len(np.unique(factors[:, index]))
        if kind == "categorical" and distinct > _MOST_VALUES:
            raise InputError(
                f"kinds: a categorical factor must have at most {_MOST_VALUES} distinct values, "
                f"got {distinct} in column {index}"
            )
    return cast(tuple[Kind, ...], tuple(named))


def is_counted(values: Array, kind: Kind) -> bool:
    """Whether the values are classes as they stand."""
    return kind == "categorical" or (kind == "ordinal" and len(np.unique(values)) <= _MOST_VALUES)


def labels(values: Array, kind: Kind, bins: int = BINS) -> Labels:
    """Classes 0, 1, … of a factor: its values, or bins of equal width where there are too many; circular ones wrap."""
    if kind == "circular":
        turns = _turns(values)
        few = len(np.unique(turns)) <= _MOST_VALUES and _is_whole(values)
        values = turns if few else np.floor(turns * bins)
    elif not is_counted(values, kind):
        values = code_bins(values, bins).astype(np.float64)
    return np.unique(values, return_inverse=True)[1].astype(np.int64).ravel()


def numbers(values: Array, kind: Kind) -> Array:
    """What a regression predicts, [samples, columns]: the value; sine and cosine; or an indicator of each category."""
    if kind == "circular":
        angles = 2 * np.pi * _turns(values)
        return np.stack([np.sin(angles), np.cos(angles)], axis=1)
    if kind == "categorical":
        classes = labels(values, kind)
        return np.eye(int(classes.max()) + 1)[classes]
    return values[:, None]


def code_bins(values: Array, bins: int = BINS) -> Labels:
    """The bin of equal width between the smallest and the largest value that each value is in."""
    low, span = values.min(), np.ptp(values)
    if span <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return np.zeros(len(values), dtype=np.int64)
    # A value on an edge stays in its bin when the codes are scaled, whatever the rounding.
    place = np.floor((values - low) / span * bins + 1e-9)
    return np.minimum(place, bins - 1).astype(np.int64)


def _turns(values: Array) -> Array:
    """Parts of a full turn, in [0, 1): of radians, or of whole steps from the smallest to the largest."""
    if _is_whole(values) and _is_short(values):
        low = values.min()
        return (values - low) / (values.max() - low + 1)
    return np.mod(values / (2 * np.pi), 1.0)


def _is_whole(values: Array) -> bool:
    return bool((values == np.round(values)).all())


def _is_short(values: Array) -> bool:
    """Whether there are few distinct values, each with several samples."""
    return len(np.unique(values)) <= min(_MOST_VALUES, max(2, len(values) // 4))
