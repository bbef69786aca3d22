"""A fitted model in its folder, and the file that it is applied to."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from identica._checks import InputError
from identica._files import replacing
from identica.cli import _values
from identica.cli._warnings import warn

if TYPE_CHECKING:
    from identica.datafiles import Dataset

__all__ = ["read_for", "save"]

_DATA = "data.json"


def save(estimator: Any, folder: Path, trial: str | None) -> None:
    """Save a model, and what its file calls the trials, for `read_for`."""
    estimator.save(folder)
    if trial is not None:
        with replacing(folder / _DATA) as temporary:
            temporary.write_text(json.dumps({"trial": trial}) + "\n", encoding="utf-8")


def read_for(
    estimator: Any,
    folder: Path,
    data: Path,
    columns: str | None,
    trial: str | None,
    array: str | None = None,
    layout: str = "auto",
) -> Dataset:
    """Read the features that a model was fitted to, and the trials if it sees windows of several rows.

    Args:
        estimator: The model.
        folder: Where it was saved.
        data: The file.
        columns: What --columns says.
        trial: What --trial says; the name at the fit if nothing.
        array: What --array says.
        layout: What --layout says.
    """
    from identica.datafiles import read_dataset

    fitted = getattr(estimator, "feature_names_in_", None)
    read = partial(read_dataset, data, array=array, layout=layout, to_fit=False)
    wanted = _values.names(columns) or (None if fitted is None else [str(name) for name in fitted])
    known = _trial_of(folder) if trial is None and estimator.chosen_["window"] > 1 else None
    if known is not None:
        try:
            return read(columns=wanted, trial=known)
        except InputError as error:
            dataset = read(columns=wanted)
            warn(f"the trials of the fit are not used, and rows are taken for one series: {error}")
            return dataset
    return read(columns=wanted, trial=trial)


def _trial_of(folder: Path) -> str | None:
    """What `save` noted, if it did."""
    try:
        return str(json.loads((folder / _DATA).read_text(encoding="utf-8"))["trial"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
