"""Where real objects are in consecutive frames of videos, and how large: a table, or bins of it."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica.sources.sprites.drawing import FRAME

__all__ = ["Transitions", "read_transitions"]

# Columns of the measurements; areas are cut and binned differently from places.
_AREA = 2
_LONGEST_CELL = 1 << 20


@final
@dataclass(frozen=True)
class Transitions:
    """Centre and area of objects in a frame and in the next one.

    Args:
        measured: x, y and area in pixels of a frame of 64 × 64, [transitions, 2 frames, 3].
    """

    measured: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.measured.ndim != 3 or self.measured.shape[1:] != (2, 3) or not len(self.measured):
            raise InputError(f"measured must be [transitions, 2, 3] with one at least, got {list(self.measured.shape)}")
        if not np.isfinite(self.measured).all() or self.measured[..., _AREA].min() <= 0:
            raise InputError("measured must be finite with areas above 0, got others")

    def __len__(self) -> int:
        return len(self.measured)

    def without_outliers(self, part: float) -> Transitions:
        """Without those whose area is among the smallest or the largest part of all, in either frame."""
        if not 0 <= part < 0.5:
            raise InputError(f"part must be from 0 to below 0.5, got {part!r}")
        areas = self.measured[..., _AREA]
        low, high = np.quantile(areas, (part, 1 - part), axis=0)
        return Transitions(self.measured[((areas >= low) & (areas <= high)).all(axis=1)])

    def binned(self, bins: tuple[int, int, int]) -> tuple[Transitions, list[NDArray[np.float64]]]:
        """Each number replaced by the centre of its bin, and the centres; bins of x, y and area are of equal width."""
        centres, columns = [], []
        for column, count in enumerate(bins):
            values = self.measured[..., column]
            edges = np.linspace(values.min(), values.max(), _checks.at_least_one("bins", count) + 1)
            places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, count - 1)
            centres.append((edges[:-1] + edges[1:]) / 2)
            columns.append(centres[-1][places])
        return Transitions(np.stack(columns, axis=2)), centres

    def places_and_scales(self) -> NDArray[np.float64]:
        """x, y and the side of a square of the same area, in frames, [transitions, 2, 3]."""
        found = self.measured / FRAME
        found[..., _AREA] = np.sqrt(self.measured[..., _AREA]) / FRAME
        return found


def read_transitions(path: Path) -> Transitions:
    """Transitions of a csv with a row for each video: two numbers, then a cell for each frame.

    A cell is empty, or a list with an entry for each object: `[y, x, area]` in pixels, or nothing where it is not seen.
    """
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream)
            next(rows, None)
            found = [move for row in rows for move in _moves([_objects(path, cell) for cell in row[2:]])]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{str(path)!r} cannot be read as a csv of transitions: {error}") from None
    if not found:
        raise InputError(f"{str(path)!r} must hold objects in consecutive frames, got none")
    return Transitions(np.array(found, dtype=np.float64)[..., [1, 0, 2]])


def _objects(path: Path, cell: str) -> list[Any]:
    """Entries of a cell: literals, which are read and never run."""
    if not cell.strip():
        return []
    try:
        entries = ast.literal_eval(cell)
        whole = all(not one or np.asarray(one, dtype=np.float64).shape == (3,) for one in entries)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        whole = False
    if not whole:
        raise InputError(f"cells of {str(path)!r} must be like '[[y, x, area], None]', got {cell[:40]!r}")
    return list(entries)


def _moves(frames: list[list[Any]]) -> Iterator[tuple[Any, Any]]:
    for before, after in pairwise(frames):
        yield from ((first, second) for first, second in zip(before, after, strict=False) if first and second)
