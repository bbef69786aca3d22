"""Where commands that fit or draw many times have it done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from identica import _checks

if TYPE_CHECKING:
    from identica.experiments.engines import Engine

__all__ = ["chosen_engine"]


def chosen_engine(name: str, jobs: int | None, address: str | None, device: str = "cpu") -> Engine:
    """The engine that --engine, --jobs and --address ask for."""
    from identica.experiments import make_engine

    at_once = (os.cpu_count() or 1) if jobs is None else _checks.at_least_one("--jobs", jobs)
    return make_engine(name, at_once, device, address)
