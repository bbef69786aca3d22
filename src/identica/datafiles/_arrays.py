"""Named arrays in .npz and .h5 files, and the single one of an .npy file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._sources import library, member, reading
from identica.datafiles.dataset import Dataset

__all__ = ["ARRAYS", "array_names", "load_array", "read_arrays"]

ARRAYS = (".npz", ".npy", ".h5", ".hdf5")

# What numpy, zipfile and zlib raise over archives that are cut short, altered or encrypted.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TokenError,
    TypeError,
)


def read_arrays(path: Path, columns: Sequence[str] | None, trial: str | None, labels: Sequence[str]) -> Dataset:
    """Observations `x`, their partners `x_pos`, labels `trials` and row numbers `pairs`; only `x` is a must."""
    names = array_names(path)
    x = _samples(path, member("array", "x", path, names))
    x_pos = _samples(path, "x_pos") if "x_pos" in names else None
    if x_pos is not None:
        x, x_pos = _content.matched(repr(str(path)), x, x_pos)
    features: tuple[str, ...] = ()
    if x.ndim == 2:
        places = {f"x{place}": place for place in range(x.shape[1])}
        features = tuple(places if columns is None else columns)
        if columns is not None:
            chosen = [places[member("column", name, path, places)] for name in columns]
            x, x_pos = x.take(chosen, 1), None if x_pos is None else x_pos.take(chosen, 1)
    elif columns is not None:
        raise InputError(f"columns cannot be chosen from images, and x in {str(path)!r} has shape {list(x.shape)}")
    for name, array in (("x", x), ("x_pos", x_pos)):
        if array is not None:
            _check(f"{name} in {str(path)!r}", array, features)
    return Dataset(
        x,
        x_pos,
        _pairs(path, names, len(x)),
        _trials(path, names, trial, len(x)),
        features,
        _labels(path, names, labels, len(x)),
    )


def array_names(path: Path) -> tuple[str, ...]:
    """Names of the arrays in a file; that of an .npy file is x."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return ("x",)
    if suffix == ".npz":
        with reading(path, *_BROKEN):
            if not zipfile.is_zipfile(path):
                raise InputError(f"{str(path)!r} cannot be read as .npz: it is empty, cut short or of another kind")
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return tuple(archive.files)
    h5py = library("h5py", f"reading {suffix}")
    found: list[str] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found.append(name)

    with reading(path, RuntimeError, KeyError), h5py.File(path, "r") as file:
        file.visititems(note)
    return tuple(found)


def load_array(path: Path, name: str) -> NDArray[Any]:
    """One array of a file, which has it."""
    suffix = path.suffix.lower()
    if suffix in {".h5", ".hdf5"}:
        h5py = library("h5py", f"reading {suffix}")
        with reading(path, RuntimeError, KeyError, TypeError), h5py.File(path, "r") as file:
            stored = file[name]
            text = h5py.check_string_dtype(stored.dtype) is not None
            return np.asarray(stored.asstr()[()], dtype=str) if text else np.asarray(stored[()])
    with reading(path, *_BROKEN):
        return _load_numpy(path, name)


def _load_numpy(path: Path, name: str) -> NDArray[Any]:
    try:
        with path.open("rb") as stream:
            if path.suffix.lower() == ".npy":
                # Not np.load: it takes any file that is not an array for a pickle, and says so.
                return np.lib.format.read_array(stream, allow_pickle=False)
            with np.load(stream, allow_pickle=False) as archive:
                return np.asarray(archive[name])
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"{name} in {str(path)!r} must be an array of numbers or text, got Python objects, which are never loaded"
        ) from None


def _samples(path: Path, name: str) -> NDArray[Any]:
    array, label = load_array(path, name), f"{name} in {str(path)!r}"
    return _content.as_images(label, array) if array.ndim > 2 else _content.as_matrix(label, array)


def _check(label: str, array: NDArray[Any], features: Sequence[str]) -> None:
    if array.ndim == 2:
        _content.check_finite(label, array, features)
    else:
        _content.check_images_finite(label, array)


def _pairs(path: Path, names: Collection[str], samples: int) -> NDArray[np.int64] | None:
    if "pairs" not in names:
        return None
    return _content.as_pairs(f"pairs in {str(path)!r}", load_array(path, "pairs"), samples)


def _trials(path: Path, names: Collection[str], trial: str | None, samples: int) -> NDArray[Any] | None:
    if trial is None and "trials" not in names:
        return None
    name = member("array", "trials" if trial is None else trial.strip("/"), path, names)
    return _content.as_labels(f"{name} in {str(path)!r}", load_array(path, name), samples)


def _labels(path: Path, names: Collection[str], wanted: Sequence[str], samples: int) -> NDArray[Any] | None:
    """Arrays of labels side by side; one of them may have several columns."""
    columns = {}
    for name in wanted:
        array = load_array(path, member("array", name.strip("/"), path, names))
        for place, column in enumerate(array.T if array.ndim == 2 else [array]):
            columns[f"{name}[{place}]" if array.ndim == 2 else name] = _content.as_labels(
                f"{name} in {str(path)!r}", column, samples
            )
    return _content.joined(repr(str(path)), columns)
