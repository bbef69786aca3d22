"""From a path to arrays with pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from identica import _checks, _large
from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._arrays import ARRAYS, array_names, load_array, read_arrays
from identica.datafiles._beside import read_beside, read_clock
from identica.datafiles._images import IMAGES, read_images
from identica.datafiles._motions import CLIPS, read_clip, read_clips
from identica.datafiles._nwb import NWB, read_nwb
from identica.datafiles._pairs import read_file_pairs, read_row_pairs
from identica.datafiles._roles import hints
from identica.datafiles._sources import file_suffix, files_in, listing, member
from identica.datafiles._tables import TABLES, read_columns, read_table
from identica.datafiles.dataset import Dataset

__all__ = ["read_array", "read_dataset"]


def read_dataset(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    time: str | None = None,
    trial: str | None = None,
    pairs: Path | None = None,
    labels: Sequence[str] = (),
    array: str | None = None,
    layout: str = "auto",
    beside: Sequence[str] = (),
    to_fit: bool = True,
) -> Dataset:
    """Read observations and how they pair up from a table, a file of arrays, motion capture or a folder.

    A `.csv`, `.tsv` or `.parquet` table has a feature in each column; columns `speed_pos`, … beside `speed`, … hold
    the partners. A column that is named like a time or a trial, and goes on like one, is no feature; `notes` say so. An
    `.npz`, `.h5` or `.mat` file has an array `x`, and may have `x_pos` (the partners), `pairs` (row numbers of
    partners) and `trials` (labels). An `.npy` file is `x` alone. An `.nwb` file has a series. A `.bvh` clip has the
    places of its joints, seen from the root and its heading, as columns `LeftFoot.x`, …; those that never change are
    left out. A folder holds images, or clips of the same joints, which become the trials; only what is directly in it
    is read. Arrays of numbers that are larger than 256 MB, in `.npy` and `.h5` files, stay on disk.

    Args:
        path: A file or a folder.
        columns: The features to keep, by name; the columns of arrays are named x0, x1, …
        exclude: Columns that are no features.
        time: The column of the time, which is no feature and must rise in each trial. For tables.
        trial: The column or array of labels; `trials` in `.npz`, `.h5` and `.mat` files if nothing is said. Not for
            clips. In `.nwb` files, `trials` or a column of that table.
        pairs: A list of partners: two file names (folders of images) or two row numbers counted from 0 a line.
        labels: Columns or arrays of measured behaviour, which are no features. Not for clips and images.
        array: The array or series that holds the observations, if it is not `x` (or the only one, in `.mat` and
            `.nwb` files).
        layout: What an array of three axes is: `trials` [trials, time, channels] or `images` [samples, height, width].
        beside: Columns or arrays to show samples by, which are no features unless `columns` says so.
        to_fit: Refuse what cannot be learnt from: columns that never change, a single sample.

    Raises:
        InputError: What is read cannot be used; one line says what, where, and what can.
    """
    path = Path(path)
    asked = _Asked(columns, exclude, time, trial, labels, array, layout)
    asked.check()
    if beside:
        _check_columns("color", beside)
    if columns is None and path.suffix.lower() in TABLES:
        shown = [name for name in beside if name not in (*exclude, *labels, time, trial)]
        asked = asked._replace(exclude=[*exclude, *shown])
    data = _read(path, asked, pairs)
    if to_fit and not _large.is_on_disk(data.observations):
        data = _checked(path, data)
    if data.time is None:
        data = replace(data, time=read_clock(path, len(data.observations)))
    return replace(data, beside=read_beside(path, beside, len(data.observations))) if beside else data


def _checked(path: Path, data: Dataset) -> Dataset:
    """Data that can be learnt from, with hints at features that may be none."""
    _check_varies(path, data)
    if data.positives is not None or data.observations.ndim > 2 or path.suffix.lower() in CLIPS or path.is_dir():
        return data
    return replace(data, notes=(*data.notes, *hints(data.observations, data.names)))


class _Asked(NamedTuple):
    """What the caller of `read_dataset` says of the file."""

    columns: Sequence[str] | None
    exclude: Sequence[str]
    time: str | None
    trial: str | None
    labels: Sequence[str]
    array: str | None
    layout: str

    def check(self) -> None:
        """Refuse what no file could have."""
        if self.columns is not None:
            _check_columns("columns", self.columns)
        for what, names in (("label", self.labels), ("exclude", self.exclude)):
            if names:
                _check_columns(what, names)
        _checks.choice("layout", self.layout, ("auto", "trials", "images"))


def _read(path: Path, asked: _Asked, pairs: Path | None) -> Dataset:
    columns, _, _, trial, labels, _, _ = asked
    if labels and (os.path.isdir(path) or path.suffix.lower() in CLIPS):
        raise InputError(f"label must be left out for images and clips, got {labels[0]!r} with {str(path)!r}")
    if os.path.isdir(path):
        clips = [] if files_in(path, IMAGES) else files_in(path, CLIPS)
        if not clips:
            return _read_folder(path, columns, trial, pairs)
        data = read_clips(path, clips, columns, trial)
    else:
        data = _read_file(path, asked)
    ways = {"partners (_pos)": data.positives, "pairs": data.pairs, f"the list {str(pairs)!r}": pairs}
    given = [way for way, value in ways.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"data must pair up in one way, but {str(path)!r} comes with {' and '.join(given)}")
    return data if pairs is None else replace(data, pairs=read_row_pairs(Path(pairs), len(data.observations)))


def read_array(name: str, path: Path, *, key: str | None = None) -> NDArray[Any]:
    """Read one [samples, columns] array of finite numbers.

    Args:
        name: What the caller calls it; errors use the word, and in files of several arrays it is the one looked for.
        path: A table or a file of arrays.
        key: The array to take from an `.npz` or `.h5` file.

    Raises:
        InputError: There is no such array, or it cannot be used.
    """
    path = Path(path)
    label = f"{name} in {str(path)!r}"
    suffix = file_suffix(name, path, (*TABLES, *ARRAYS))
    if key is not None and suffix not in {".npz", ".h5", ".hdf5", ".mat"}:
        raise InputError(f"key {key!r} must belong to an .npz or .h5 file, got {str(path)!r}")
    if suffix in TABLES:
        values, columns = read_columns(path)
    else:
        values = _content.as_matrix(label, load_array(path, _key(name, path, key)))
        columns = [str(column) for column in range(values.shape[1])]
    _content.check_finite(label, values, columns)
    return values


def _key(name: str, path: Path, key: str | None) -> str:
    found = array_names(path)
    if key is not None:
        return member("array", key.strip("/"), path, found)
    if name in found:
        return name
    if len(found) != 1:
        raise InputError(f"{name} must be an array of {str(path)!r}, which has no array {name!r}: {listing(found)}")
    return found[0]


def _read_file(path: Path, asked: _Asked) -> Dataset:
    allowed = (*TABLES, *ARRAYS, *NWB, *CLIPS)
    suffix = file_suffix("data", path, allowed, instead="be a folder of images or clips, or ")
    columns, exclude, time, trial, labels, array, layout = asked
    if suffix in TABLES:
        return read_table(path, columns, exclude, time, trial, labels)
    if time is not None:
        raise InputError(f"time must be left out for {suffix} files, got {time!r}: --exclude leaves columns out")
    if suffix in ARRAYS:
        return read_arrays(path, columns, exclude, trial, labels, array, layout)
    for what, names in (("exclude", exclude), ("label", labels)):
        if names:
            raise InputError(f"{what} must be left out for {suffix} files, got {names[0]!r}")
    if suffix in NWB:
        return read_nwb(path, array, trial)
    return read_clip(path, columns, trial)


def _read_folder(folder: Path, columns: Sequence[str] | None, trial: str | None, pairs: Path | None) -> Dataset:
    for name, value in (("columns", columns), ("trial", trial)):
        if value is not None:
            raise InputError(f"{name} must be left out for a folder of images, got {value!r} with {str(folder)!r}")
    images, files = read_images(folder)
    return Dataset(images, pairs=None if pairs is None else read_file_pairs(Path(pairs), files))


def _check_varies(path: Path, data: Dataset) -> None:
    where = repr(str(path))
    in_arrays = path.suffix.lower() in ARRAYS and not os.path.isdir(path)
    for name, ending, values in (("x", "", data.observations), ("x_pos", "_pos", data.positives)):
        label = f"{name} in {where}" if in_arrays else where
        if values is not None and values.ndim == 2:
            _content.check_columns_vary(label, values, [feature + ending for feature in data.names])
        elif values is not None:
            _content.check_images_vary(label, values)


def _check_columns(what: str, names: Sequence[str]) -> None:
    if isinstance(names, str) or not names:
        raise InputError(f"{what} must be a list of at least one name, got {names!r}")
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise InputError(f"{what} must be different names, got {twice[0]!r} twice")
