"""Neurodata Without Borders: a series of measurements, and the trials that it was recorded in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._sources import library, listing, member, reading
from identica.datafiles.dataset import Dataset

__all__ = ["NWB", "read_nwb"]

NWB = (".nwb",)

_TRIALS = "intervals/trials"


def read_nwb(path: Path, array: str | None, trial: str | None) -> Dataset:
    """A series [time, channels] as observations; with `trial`, the rows within trials, labelled by them.

    Args:
        path: The file.
        array: The name of the series, the last part of its place or all of it; the only one there is if not given.
        trial: `trials` to read the table of trials, or the name of one of its columns for the labels.
    """
    h5py = library("h5py", "reading .nwb")
    with reading(path, RuntimeError, KeyError, TypeError), h5py.File(path, "r") as file:
        place = _place(path, _series(h5py, file), array)
        values = _content.as_matrix(f"{place} in {str(path)!r}", np.asarray(file[place]["data"][()]))
        names = [f"x{number}" for number in range(values.shape[1])]
        labels = None
        if trial is not None:
            rows, labels = _within_trials(path, file, _times(file[place], len(values)), trial)
            values = values[rows]
        _content.check_finite(f"{place} in {str(path)!r}", values, names)
        return Dataset(values, trials=labels, names=tuple(names))


def _series(h5py: Any, file: Any) -> list[str]:
    """Places of all series of numbers with at most two axes."""
    found: list[str] = []

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Group) and isinstance(item.get("data"), h5py.Dataset):
            data = item["data"]
            if data.ndim in (1, 2) and data.dtype.kind in "iuf" and len(data) > 1:
                found.append(name)

    for part in ("acquisition", "processing", "stimulus"):
        if part in file:
            file[part].visititems(lambda name, item, part=part: note(f"{part}/{name}", item))
    return found


def _place(path: Path, found: list[str], array: str | None) -> str:
    if array is not None:
        ends = [place for place in found if place == array.strip("/") or place.endswith(f"/{array.strip('/')}")]
        return ends[0] if len(ends) == 1 else member("series", array, path, found)
    if len(found) != 1:
        raise InputError(f"{str(path)!r} must have one series, or --array must name one: it has {listing(found)}")
    return found[0]


def _times(series: Any, count: int) -> NDArray[np.float64]:
    if "timestamps" in series:
        return np.asarray(series["timestamps"][()], dtype=np.float64)
    start = series["starting_time"]
    return float(start[()]) + np.arange(count) / float(start.attrs["rate"])


def _within_trials(
    path: Path, file: Any, times: NDArray[np.float64], trial: str
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows within trials, and the label of each."""
    if _TRIALS not in file:
        raise InputError(f"trial must be left out for {str(path)!r}, which has no table of trials")
    table = file[_TRIALS]
    begin, end = (np.asarray(table[name][()], dtype=np.float64) for name in ("start_time", "stop_time"))
    labels = np.arange(len(begin))
    if trial != "trials":
        stored = table[member("column of trials", trial, path, list(table))]
        text = stored.dtype.kind == "O"
        labels = np.asarray(stored.asstr()[()] if text else stored[()])
    which = np.searchsorted(begin, times, side="right") - 1
    inside = (which >= 0) & (times <= end[which.clip(min=0)])
    if not inside.any():
        raise InputError(f"trials of {str(path)!r} must overlap the series in time, got none that does")
    return np.flatnonzero(inside), labels[which[inside]]
