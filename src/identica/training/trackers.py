"""Curves in TensorBoard or MLflow while a run trains. None is kept unless it is asked for."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from identica import _checks
from identica._checks import InputError
from identica._files import made

if TYPE_CHECKING:
    from lightning_fabric.loggers.logger import Logger

__all__ = ["TRACKERS", "check_trackers", "make_trackers"]

TRACKERS = ("tensorboard", "mlflow")
"""Names of the trackers: event files, or an SQLite file."""

# What each needs; MLflow is the part of it that records, with a database.
_NEEDED = {"tensorboard": ("tensorboard",), "mlflow": ("mlflow", "sqlalchemy", "alembic")}


def check_trackers(names: Sequence[str], folder: Path) -> None:
    """Raise unless trackers of these names can be made; MLflow's file is made at once, before several write to it.

    Args:
        names: Of `TRACKERS`.
        folder: Where their files go.
    """
    for name in names:
        _checks.choice("tracker", name, TRACKERS)
        missing = [one for one in _NEEDED[name] if importlib.util.find_spec(one) is None]
        if missing:
            raise InputError(f"the tracker {name} needs the library {missing[0]}: pip install 'identica[trackers]'")
    if "mlflow" in names:
        from identica.training._mlflow import opened

        opened(folder)


def make_trackers(names: Sequence[str], folder: Path, run: str) -> list[Logger]:
    """Loggers for `train`, one for each name.

    Args:
        names: Of `TRACKERS`.
        folder: Where their files go: `tensorboard/` and `mlflow.db`.
        run: What the curves are called; those of a run that goes on are continued.
    """
    check_trackers(names, folder)
    return [_tensorboard(folder, run) if name == "tensorboard" else _mlflow(folder, run) for name in names]


def _tensorboard(folder: Path, run: str) -> Logger:
    from lightning_fabric.loggers.tensorboard import TensorBoardLogger

    return TensorBoardLogger(made(folder / "tensorboard"), name="", version=run)


def _mlflow(folder: Path, run: str) -> Logger:
    from identica.training._mlflow import MLflowLogger

    return MLflowLogger(folder, run)
