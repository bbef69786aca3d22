"""A user's file as a command gets it: observations, how they are paired, and the settings of a fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from identica import _checks
from identica._checks import InputError
from identica.cli._options import FitOptions

if TYPE_CHECKING:
    from identica.datafiles import Dataset

__all__ = ["Given", "column_names", "read", "with_column_names"]


class Given(NamedTuple):
    """Data, and the lag that pairs it up if nothing else does."""

    dataset: Dataset
    lag: int | None

    @property
    def observations(self) -> Any:
        """With the names of the columns, where there are any."""
        return with_column_names(self.dataset, self.dataset.observations)

    def pairs_of_fit(self) -> dict[str, Any]:
        """What `fit` takes beside the observations."""
        dataset = self.dataset
        found = {"X_pos": dataset.positives, "pairs": dataset.pairs, "trials": dataset.trials if self.lag else None}
        return {name: value for name, value in found.items() if value is not None}

    def settings(self, options: FitOptions) -> dict[str, Any]:
        """Of `ContrastiveICA`, but for the assumption and the seed."""
        by_shape = "mlp" if self.dataset.observations.ndim == 2 else "conv"
        return {
            "n_components": options.n_components,
            "widths": options.widths,
            "axes": options.axes,
            "lag": self.lag,
            "encoder": by_shape if options.encoder is None else options.encoder,
            "pca_components": options.pca_components,
            "max_steps": options.max_steps,
            "max_seconds": options.max_seconds,
            "batch_size": options.batch_size,
            "device": options.device,
        }


def read(data: Path, options: FitOptions) -> Given:
    """Read a file, and check that its observations have partners in one way."""
    from identica.datafiles import read_dataset

    lag, trial = options.lag, options.trial
    if lag is not None:
        _checks.at_least_one("--lag", lag)
    dataset = read_dataset(data, columns=column_names(options.columns), trial=trial, pairs=options.pairs)
    paired = dataset.positives is not None or dataset.pairs is not None
    if paired and lag is not None:
        raise InputError(f"--lag must be left out, got {lag}: {str(data)!r} comes with partners of its own")
    if paired and trial is not None:
        raise InputError(f"--trial must be left out, got {trial!r}: {str(data)!r} comes with partners of its own")
    if not paired and lag is None and trial is None:
        raise InputError(
            f"--lag must be given, or partners (x_pos, columns that end in _pos, --pairs): {str(data)!r} has none"
        )
    return Given(dataset, None if paired else lag or 1)


def column_names(columns: str | None) -> list[str] | None:
    """The names that --columns gives."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def with_column_names(dataset: Dataset, observations: Any) -> Any:
    """Observations as a data frame, if the file names its columns."""
    if not dataset.names:
        return observations
    import pandas as pd

    return pd.DataFrame(observations, columns=list(dataset.names))
