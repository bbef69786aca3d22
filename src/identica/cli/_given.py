"""A user's file as a command gets it: observations, how they are paired, and the settings of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from identica import _checks, _names
from identica._checks import InputError
from identica._places import check_there
from identica.cli import _values
from identica.cli._options import FitOptions
from identica.cli._warnings import note

if TYPE_CHECKING:
    from identica.datafiles import Dataset

__all__ = ["Given", "check_options", "read", "with_column_names"]


class Given(NamedTuple):
    """Data, and the lag that pairs it up if nothing else does."""

    dataset: Dataset
    lag: int | list[int] | None

    @property
    def observations(self) -> Any:
        """With the names of the columns, where there are any."""
        return with_column_names(self.dataset, self.dataset.observations)

    @property
    def trials(self) -> Any:
        """Of the rows, if these are neighbours in time."""
        return None if self.lag is None and self.dataset.labels is None else self.dataset.trials

    def pairs_of_fit(self) -> dict[str, Any]:
        """What `fit` takes beside the observations."""
        dataset = self.dataset
        found = {
            "X_pos": dataset.positives,
            "pairs": dataset.pairs,
            "labels": dataset.labels,
            "trials": self.trials,
        }
        return {name: value for name, value in found.items() if value is not None}

    def settings(self, options: FitOptions) -> dict[str, Any]:
        """Of `ContrastiveICA`, but for the assumption, the held-out pairs and the seed."""
        return {
            "n_components": options.n_components,
            "widths": options.widths,
            "axes": options.axes,
            "lag": self.lag,
            "window": _values.whole_or("--window", options.window, {"auto": "auto"}),
            "encoder": options.encoder,
            "layout": "images" if self.dataset.observations.ndim > 2 else "auto",
            "pca_components": _values.whole_or(
                "--pca-components", options.pca_components, {"auto": "auto", "all": None}
            ),
            "scaling": options.scaling,
            "noise": _values.number("--noise", options.noise),
            "max_steps": options.steps,
            "max_seconds": options.max_seconds,
            "batch_size": options.batch_size,
            "device": options.device,
        }


def check_options(options: FitOptions) -> None:
    """Refuse what options say before anything is read or imported for it."""
    for name, value, allowed in (
        ("widths", options.widths, _names.WIDTHS),
        ("axes", options.axes, _names.AXES),
        ("encoder", options.encoder, _names.ENCODERS),
        ("scaling", options.scaling, _names.SCALINGS),
    ):
        _checks.choice(name, value, allowed)
    for name, number in (("n_components", options.n_components), ("max_steps", options.steps)):
        if number is not None:
            _checks.at_least_one(name, number)
    if options.max_seconds is not None:
        _checks.positive("max_seconds", options.max_seconds)
    if options.batch_size is not None:
        _checks.at_least("batch_size", options.batch_size, 2)
    _values.whole_or("--window", options.window, {"auto": "auto"})
    _values.whole_or("--pca-components", options.pca_components, {"auto": "auto", "all": None})
    _values.number("--noise", options.noise)


def read(data: Path, options: FitOptions, beside: Sequence[str] = ()) -> Given:
    """Read a file, and check that its observations have partners in one way; say what is worth knowing of it.

    Args:
        data: The file.
        options: Of the command.
        beside: Columns or arrays that are shown, and no features.
    """
    check_options(options)
    lag = None if options.lag is None else _values.lags(options.lag)
    labels = _values.names(options.label) or []
    check_there("data", data)
    from identica.datafiles import read_dataset

    dataset = read_dataset(
        data,
        columns=_values.names(options.columns),
        exclude=_values.names(options.exclude) or (),
        time=options.time,
        trial=options.trial,
        labels=labels,
        pairs=options.pairs,
        array=options.array,
        layout=options.layout,
        beside=beside,
    )
    for line in dataset.notes:
        note(line)
    if dataset.positives is not None or dataset.pairs is not None:
        for name, given in (("--lag", options.lag), ("--trial", options.trial), ("--label", options.label)):
            if given is not None:
                raise InputError(
                    f"{name} must be left out, got {given!r}: {str(data)!r} comes with partners of its own"
                )
        return Given(dataset, None)
    if lag is None and options.trial is None and not labels:
        raise InputError(
            "--lag must be given, or --label, or partners (x_pos, columns that end in _pos, --pairs): "
            f"{str(data)!r} has none"
        )
    return Given(dataset, 1 if lag is None and not labels else lag)


def with_column_names(dataset: Dataset, observations: Any) -> Any:
    """Observations as a data frame, if the file names its columns."""
    if not dataset.names:  # as those of images, and of arrays that stay on disk
        return observations
    import pandas as pd

    return pd.DataFrame(observations, columns=list(dataset.names))
