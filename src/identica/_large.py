"""Arrays that are larger than memory: only as many rows of them as a fit can use are ever read."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_pieces", "fits_a_piece", "is_on_disk", "rows_to_read", "take"]

Rows = NDArray[np.int64]

# What is read of an array on disk, at most: so many bytes, and so many rows.
_MOST_BYTES, _MOST_ROWS = 1 << 28, 2_000_000
_BLOCKS = 512
_PIECE_BYTES = 1 << 24


def is_on_disk(values: Any) -> bool:
    """Whether this is an array whose rows are read only when they are asked for: a memory map, a dataset of h5py."""
    return isinstance(values, np.memmap) or type(values).__module__.partition(".")[0] == "h5py"


def rows_to_read(values: Any, pairs: Any = None) -> Rows | None:
    """Rows to read of an array on disk: blocks that are spread evenly, or the rows of some pairs; None for all.

    Args:
        values: The array, [rows, …].
        pairs: Index pairs into it, [pairs, 2], if partners are given so.
    """
    if not is_on_disk(values):
        return None
    count = len(values)
    most = min(_MOST_ROWS, _MOST_BYTES // max(1, _row_bytes(values)))
    if count <= most:
        return None
    if pairs is not None:
        chosen = np.linspace(0, len(pairs) - 1, min(len(pairs), most // 2)).astype(np.int64)
        return np.unique(np.asarray(pairs)[chosen])
    blocks = min(_BLOCKS, most)
    length = most // blocks
    starts = np.linspace(0, count - length, blocks).astype(np.int64)
    return np.unique((starts[:, None] + np.arange(length)).ravel())


def take(values: Any, rows: Rows) -> NDArray[Any]:
    """These rows, which are in order, read piece by piece; what was mapped of a file is given back."""
    first = values[int(rows[0]) : int(rows[0]) + 1]
    found = np.empty((len(rows), *first.shape[1:]), dtype=np.uint8 if first.dtype == np.uint8 else np.float32)
    for start in range(0, len(rows), step := rows_in_piece(values)):
        wanted = rows[start : start + step]
        low, high = int(wanted[0]), int(wanted[-1]) + 1
        if high - low <= 2 * len(wanted):
            found[start : start + step] = np.asarray(values[low:high])[wanted - low]
        else:
            for run in np.split(wanted, np.flatnonzero(np.diff(wanted) != 1) + 1):
                place = start + int(np.searchsorted(wanted, run[0]))
                found[place : place + len(run)] = values[int(run[0]) : int(run[-1]) + 1]
        _give_back(values)
    return found


def fits_a_piece(values: Any) -> bool:
    """Whether an array may be read as a whole: it is in memory, or small."""
    return not is_on_disk(values) or len(values) <= rows_in_piece(values)


def by_pieces(values: Any, compute: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    """What is computed of an array on disk row by row, read piece by piece."""
    found = []
    for start in range(0, len(values), step := rows_in_piece(values)):
        found.append(compute(np.array(values[start : start + step])))
        _give_back(values)
    return np.concatenate(found)


def rows_in_piece(values: Any) -> int:
    """How many rows are read at a time."""
    return max(1, _PIECE_BYTES // max(1, _row_bytes(values)))


def _row_bytes(values: Any) -> int:
    return math.prod(values.shape[1:]) * max(4, np.dtype(values.dtype).itemsize)


def _give_back(values: Any) -> None:
    mapped = getattr(values, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
