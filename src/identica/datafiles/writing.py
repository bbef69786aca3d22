"""Codes out, in the formats that tables and arrays come in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica._files import replacing
from identica._places import check_file
from identica.datafiles._sources import known_suffix, library, one_line

__all__ = ["check_codes", "write_codes"]

_WRITTEN = (".npz", ".npy", ".csv", ".parquet")


def check_codes(name: str, path: Path, *, overwrite: bool) -> None:
    """Refuse a place that codes cannot be written to, before they are computed; `name` is what the caller calls it."""
    suffix = known_suffix(name, path, _WRITTEN)
    if suffix == ".parquet":
        library("pyarrow", f"writing {suffix}")
    check_file(name, path, overwrite=overwrite)


def write_codes(path: Path, codes: NDArray[Any], names: Sequence[str]) -> None:
    """Write codes [samples, columns] to a file that is either whole or not there.

    Args:
        path: Where to; the suffix .npz (array `codes`), .npy, .csv or .parquet says how.
        codes: The numbers.
        names: One name for each column, which tables carry in their header.

    Raises:
        InputError: The suffix or the names do not fit, or the place cannot be written to.
    """
    path = Path(path)
    suffix = known_suffix("codes", path, _WRITTEN)
    if codes.ndim != 2 or codes.shape[1] != len(names):
        raise InputError(f"codes must have shape [samples, {len(names)}], as many as names, got {list(codes.shape)}")
    if len(set(names)) != len(names):
        raise InputError(f"names of codes must be different, got {', '.join(names)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            _write(temporary, suffix, codes, names)
    except OSError as error:
        raise InputError(f"codes cannot be written to {str(path)!r}: {one_line(error)}") from None


def _write(path: Path, suffix: str, codes: NDArray[Any], names: Sequence[str]) -> None:
    if suffix == ".npz":
        np.savez(path, codes=codes)
    elif suffix == ".npy":
        np.save(path, codes)
    elif suffix == ".csv":
        _frame(suffix, codes, names).to_csv(path, index=False)
    else:
        library("pyarrow", f"writing {suffix}")
        _frame(suffix, codes, names).to_parquet(path, index=False, engine="pyarrow")


def _frame(suffix: str, codes: NDArray[Any], names: Sequence[str]) -> Any:
    return library("pandas", f"writing {suffix}").DataFrame(codes, columns=list(names))
