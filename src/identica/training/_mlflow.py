"""Curves in an SQLite file of MLflow. Fabric has a logger for TensorBoard and none for this."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, final

from lightning_fabric.loggers.logger import Logger
from lightning_fabric.utilities.rank_zero import rank_zero_only
from mlflow.entities import Metric, Param
from mlflow.tracking import MlflowClient

from identica._files import made

__all__ = ["MLflowLogger", "opened"]

_EXPERIMENT = "identica"


class Opened(NamedTuple):
    """The file, and the experiment in it."""

    client: Any
    experiment: str


def opened(folder: Path) -> Opened:
    """The file `mlflow.db` of a folder; it is made if it is not there."""
    client = MlflowClient(tracking_uri=f"sqlite:///{made(folder).absolute() / 'mlflow.db'}")
    found = client.get_experiment_by_name(_EXPERIMENT)
    return Opened(client, found.experiment_id if found is not None else client.create_experiment(_EXPERIMENT))


@final
class MLflowLogger(Logger):
    """One run in the file; that of the same name if there is one.

    Args:
        folder: Of the file.
        run: Its name.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self._client, experiment = opened(folder)
        self._run = run
        known = self._client.search_runs([experiment], f"tags.mlflow.runName = '{run}'", max_results=1)
        self._id = (known[0] if known else self._client.create_run(experiment, run_name=run)).info.run_id

    @property
    def name(self) -> str:
        return _EXPERIMENT

    @property
    def version(self) -> str:
        return self._run

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Write named numbers."""
        now = int(1000 * time.time())
        self._client.log_batch(self._id, [Metric(name, value, now, step or 0) for name, value in metrics.items()])

    @rank_zero_only
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Write settings."""
        self._client.log_batch(self._id, params=[Param(name, str(value)) for name, value in params.items()])

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Say how it ended."""
        self._client.set_terminated(self._id, "FINISHED" if status == "success" else "FAILED")
