"""Files of MATLAB: the older ones by SciPy, those of version 7.3, which are HDF5, by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.datafiles._sources import library, reading

__all__ = ["MATLAB", "matlab_array", "matlab_names"]

MATLAB = (".mat",)

_HDF5 = b"\x89HDF"
# Where the HDF5 part begins: MATLAB puts a text of its own in front.
_AT = (0, 512)
# What both libraries raise for damaged files, or those that hold what they cannot read.
_BROKEN = (NotImplementedError, TypeError, KeyError, IndexError, RuntimeError)


def matlab_names(path: Path) -> tuple[str, ...]:
    """Names of the variables."""
    if _is_hdf5(path):
        h5py = library("h5py", "reading .mat of version 7.3")
        with reading(path, *_BROKEN), h5py.File(path, "r") as file:
            return tuple(name for name, item in file.items() if isinstance(item, h5py.Dataset))
    io = _scipy()
    with reading(path, io.matlab.MatReadError, *_BROKEN):
        return tuple(name for name, _, _ in io.whosmat(path))


def matlab_array(path: Path, name: str) -> NDArray[Any]:
    """One variable: numbers, or a list of texts."""
    if _is_hdf5(path):
        h5py = library("h5py", "reading .mat of version 7.3")
        with reading(path, *_BROKEN), h5py.File(path, "r") as file:
            stored = file[name]
            if stored.dtype == h5py.ref_dtype:
                texts = ["".join(map(chr, np.ravel(file[one][()]))) for one in np.ravel(stored[()], order="F")]
                return np.array(texts, dtype=str)
            return _squeezed(np.asarray(stored[()]).T)  # MATLAB counts columns first
    io = _scipy()
    with reading(path, io.matlab.MatReadError, *_BROKEN):
        found = np.asarray(io.loadmat(path, variable_names=[name])[name])
        if found.dtype == object:
            return np.array([str(np.squeeze(one)) for one in found.ravel()], dtype=str)
        return _squeezed(found)


def _squeezed(values: NDArray[Any]) -> NDArray[Any]:
    """Vectors have two axes in MATLAB."""
    return values.ravel() if values.ndim == 2 and 1 in values.shape else values


def _is_hdf5(path: Path) -> bool:
    with reading(path), path.open("rb") as stream:
        for place in _AT:
            stream.seek(place)
            if stream.read(4) == _HDF5:
                return True
    return False


def _scipy() -> Any:
    import scipy.io

    return scipy.io
