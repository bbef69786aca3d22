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

from identica import _large
from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._matlab import MATLAB, matlab_array, matlab_names
from identica.datafiles._sources import library, member, reading
from identica.datafiles.dataset import Dataset

__all__ = ["ARRAYS", "array_names", "load_array", "read_arrays"]

ARRAYS = (".npz", ".npy", ".h5", ".hdf5", *MATLAB)

# Bytes above which an array of numbers is left on disk.
_LARGE = 1 << 28

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


def read_arrays(
    path: Path,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    trial: str | None,
    labels: Sequence[str],
    array: str | None,
    layout: str,
) -> Dataset:
    """Observations `x`, their partners `x_pos`, labels `trials` and row numbers `pairs`; only `x` is a must.

    Args:
        path: The file.
        columns: Names of the features, x0, x1, …; all of them if not given.
        exclude: Names that are no features.
        trial: The array of the trials.
        labels: Arrays of measured behaviour.
        array: The array of the observations, if it is not `x`.
        layout: What three axes are: `trials`, `images`, or `auto` to take bytes for images and to ask about numbers.
    """
    names = array_names(path)
    wanted = _observations(path, names, array)
    x, runs = _samples(path, wanted, layout)
    x_pos = _samples(path, "x_pos", layout)[0] if "x_pos" in names else None
    if x_pos is not None:
        x, x_pos = _content.matched(repr(str(path)), x, x_pos)
    if _large.is_on_disk(x):
        return _on_disk(path, x, names, trial, [*(columns or ()), *exclude, *labels])
    features: tuple[str, ...] = ()
    if x.ndim == 2:
        places = {f"x{place}": place for place in range(x.shape[1])}
        for name in (*(columns or ()), *exclude):
            member("column", name, path, places)
        features = tuple(name for name in (places if columns is None else columns) if name not in exclude)
        if len(features) < len(places) or columns is not None:
            chosen = [places[name] for name in features]
            x, x_pos = x.take(chosen, 1), None if x_pos is None else x_pos.take(chosen, 1)
    elif columns is not None or exclude:
        raise InputError(f"columns cannot be chosen from images, and x in {str(path)!r} has shape {list(x.shape)}")
    for name, values in ((wanted, x), ("x_pos", x_pos)):
        if values is not None:
            _check(f"{name} in {str(path)!r}", values, features)
    pairs, found = _pairs(path, names, len(x)), _trials(path, names, trial, len(x))
    found = runs if found is None else found
    return Dataset(x, x_pos, pairs, found, features, _labels(path, names, labels, len(x)), trial)


def _observations(path: Path, names: Sequence[str], array: str | None) -> str:
    """The name of the array that holds the observations: `x`, the one that is named, or in MATLAB's the only one."""
    if array is None and len(names) == 1 and path.suffix.lower() in MATLAB:
        return names[0]
    return member("array", "x" if array is None else array.strip("/"), path, names)


def _on_disk(path: Path, x: Any, names: Collection[str], trial: str | None, others: Sequence[str]) -> Dataset:
    """An array that is larger than what is read of it; a fit reads blocks of its rows."""
    if others:
        raise InputError(f"{others[0]!r} cannot be chosen from {str(path)!r}, whose array is not read as a whole")
    note = f"the array in {str(path)!r} has {len(x)} rows of {x.shape[1]}: a fit reads blocks of them, spread evenly"
    found = _trials(path, names, trial, len(x))
    return Dataset(x, pairs=_pairs(path, names, len(x)), trials=found, trial=trial, notes=(note,))


def array_names(path: Path) -> tuple[str, ...]:
    """Names of the arrays in a file; that of an .npy file is x."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return ("x",)
    if suffix in MATLAB:
        return matlab_names(path)
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


def load_array(path: Path, name: str, *, whole: bool = True) -> Any:
    """One array of a file, which has it; if it is large and need not be read as a whole, as an array on disk."""
    suffix = path.suffix.lower()
    if suffix in MATLAB:
        return matlab_array(path, name)
    if suffix == ".npy" and not whole and path.stat().st_size > _LARGE:
        with reading(path, *_BROKEN):
            mapped = np.lib.format.open_memmap(path, mode="r")
        if mapped.ndim == 2 and mapped.dtype.kind == "f":
            return mapped
    if suffix in {".h5", ".hdf5"}:
        h5py = library("h5py", f"reading {suffix}")
        if not whole and path.stat().st_size > _LARGE:
            with reading(path, RuntimeError, KeyError, TypeError):
                stored = h5py.File(path, "r")[name]
            if stored.ndim == 2 and stored.dtype.kind == "f" and stored.nbytes > _LARGE:
                return stored
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


def _samples(path: Path, name: str, layout: str) -> tuple[Any, NDArray[np.int64] | None]:
    """Rows, images, or trials one below the other with a number for each row's."""
    array, label = load_array(path, name, whole=False), f"{name} in {str(path)!r}"
    if _large.is_on_disk(array):
        return array, None
    if array.ndim == 3 and layout == "trials":
        runs = np.repeat(np.arange(len(array), dtype=np.int64), array.shape[1])
        return _content.as_matrix(label, array.reshape(-1, array.shape[2])), runs
    if array.ndim == 3 and layout == "auto" and array.dtype != np.uint8:
        raise InputError(
            f"{label} of shape {list(array.shape)} may be trials or images: give --layout trials for [trials, time, "
            "channels], or --layout images for [samples, height, width]"
        )
    return (_content.as_images(label, array) if array.ndim > 2 else _content.as_matrix(label, array)), None


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
