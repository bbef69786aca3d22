"""Columns that are no measurements: the time, and the names of trials. Found by name and by how they go on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Roles", "find_roles", "hints"]

Array = NDArray[Any]

_TIME = re.compile(
    r"(date[ _]?)?time([ _]?(s|ms|sec|stamps?))?|t([ _]?(s|ms|sec))?|timestamps?|date|secs?|seconds|ms|milliseconds|"
    r"frames?|samples?|index|idx|row|clock",
    re.IGNORECASE,
)
_TRIAL = re.compile(
    r"(trials?|sessions?|blocks?|runs?|epochs?|episodes?|sweeps?|segments?|subjects?|participants?|animals?|recordings?|day)"
    r"([ _]?(id|nr|no|num|number|index|name))?",
    re.IGNORECASE,
)
# Rows that a trial must have on average.
_SHORTEST = 4


class Roles(NamedTuple):
    """Names of the columns that hold the time and the trials, and of others of that kind that are left out."""

    time: str | None = None
    trial: str | None = None
    others: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """Every name."""
        return [name for name in (self.time, self.trial, *self.others) if name is not None]


def find_roles(columns: Mapping[str, Array], trial: Array | None = None) -> Roles:
    """Columns whose names and values are those of a clock or of trials.

    Args:
        columns: Values by name.
        trial: Labels of trials, if the user has named them.
    """
    alike = [name for name, values in columns.items() if _TRIAL.fullmatch(name.strip()) and _in_runs(values)]
    finest = max(alike, key=lambda name: _changes(columns[name]).sum(), default=None) if trial is None else None
    labels = trial if finest is None else columns[finest]
    clocks = [
        name for name, values in columns.items() if _TIME.fullmatch(name.strip()) and _rises_within(values, labels)
    ]
    others = (*(name for name in alike if name != finest), *clocks[1:])
    return Roles(clocks[0] if clocks else None, finest, others)


def hints(values: Array, names: Sequence[str]) -> list[str]:
    """A line for each feature that goes on like a clock or like names of trials, [samples, features]."""
    found = []
    for name, column in zip(names, values.T, strict=True):
        if _rises_within(column, None) or _rises_within(-column, None):
            found.append(f"column {name!r} only ever rises or falls, like a clock: --exclude {name} leaves it out")
        elif _in_runs(column) and (column == np.floor(column)).all() and _numbered(column):
            found.append(
                f"column {name!r} is constant for many rows, like a trial: --trial {name}, or --exclude {name}"
            )
    return found


def _changes(values: Array) -> NDArray[np.bool_]:
    return np.asarray(values[1:] != values[:-1], dtype=bool)


def _in_runs(values: Array) -> bool:
    """Whether the same value stands in many rows one after the other, and then another one."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return False
    changes = int(_changes(values).sum())
    return 0 < changes <= len(values) / _SHORTEST - 1


def _numbered(values: Array) -> bool:
    """Whether runs have numbers of their own: no value comes back."""
    return len(np.unique(values)) == int(_changes(values).sum()) + 1


def _rises_within(values: Array, trial: Array | None) -> bool:
    """Whether each value is above the one before it, in each trial."""
    if values.dtype.kind not in "iufM" or len(values) < 3:
        return False
    rises = np.asarray(values[1:] > values[:-1], dtype=bool)
    return bool((rises | _changes(trial)).all()) if trial is not None else bool(rises.all())
