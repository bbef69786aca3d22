"""Engines by their names."""

from __future__ import annotations

from identica import _names
from identica._names import check_engine
from identica.experiments.engines import Engine, LocalEngine
from identica.experiments.ray_engine import RayEngine

__all__ = ["ENGINES", "make_engine"]

ENGINES = _names.ENGINES
"""Names of the engines: this machine, or a Ray cluster."""


def make_engine(
    name: str, workers: int, device: str, address: str | None = None, trackers: tuple[str, ...] = ()
) -> Engine:
    """The engine of that name.

    Args:
        name: One of `ENGINES`.
        workers: How many runs at a time.
        device: As in `identica.training.train`.
        address: Of a Ray cluster.
        trackers: Which keep curves while runs train, of `identica.training.TRACKERS`.
    """
    check_engine(name, address)
    if name == "ray":
        return RayEngine(workers, device, address, trackers)
    return LocalEngine(workers, device, trackers)
