"""Columns and arrays that go along with observations to be shown: measured behaviour, the time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._arrays import ARRAYS, array_names, load_array
from identica.datafiles._sources import member
from identica.datafiles._tables import TABLES, read_labels

__all__ = ["read_beside", "read_clock"]

_CLOCK = "time"


def read_beside(path: Path, names: Sequence[str], samples: int) -> dict[str, NDArray[Any]]:
    """Columns of a table, or arrays; an array of several columns gives one each, by the names in `…_names`, if any."""
    suffix = path.suffix.lower()
    if os.path.isdir(path) or suffix not in (*TABLES, *ARRAYS):
        raise InputError(f"color must be left out for images and clips, got {names[0]!r} with {str(path)!r}")
    if suffix in TABLES:
        return read_labels(path, names)
    known = array_names(path)
    found: dict[str, NDArray[Any]] = {}
    for name in names:
        array = load_array(path, member("array", name.strip("/"), path, known))
        columns = array.T if array.ndim == 2 else [array]
        titles = _titles(path, name, known, len(columns)) if array.ndim == 2 else [name]
        for title, column in zip(titles, columns, strict=True):
            found[title] = _content.as_labels(f"{name} in {str(path)!r}", column, samples)
    return found


def read_clock(path: Path, samples: int) -> NDArray[np.float64] | None:
    """The array `time` of a file of arrays, if it has one that goes along with the samples."""
    if os.path.isdir(path) or path.suffix.lower() not in ARRAYS or _CLOCK not in array_names(path):
        return None
    array = load_array(path, _CLOCK)
    if array.shape != (samples,) or array.dtype.kind not in "fiu":
        return None
    clock: NDArray[np.float64] = array.astype(np.float64)
    return clock


def _titles(path: Path, name: str, known: Sequence[str], count: int) -> list[str]:
    beside = f"{name}_names"
    if beside in known:
        titles = [str(title) for title in load_array(path, beside).ravel()]
        if len(titles) == count == len(set(titles)):
            return titles
    return [f"{name}[{place}]" for place in range(count)]
