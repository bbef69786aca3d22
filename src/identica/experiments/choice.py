"""Engines by their names."""

from __future__ import annotations

from identica import _checks
from identica._checks import InputError
from identica.experiments.engines import Engine, LocalEngine
from identica.experiments.ray_engine import RayEngine

__all__ = ["ENGINES", "make_engine"]

ENGINES = ("local", "ray")
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
    if _checks.choice("engine", name, ENGINES) == "ray":
        return RayEngine(workers, device, address, trackers)
    if address is not None:
        raise InputError(f"--address is for --engine ray, got {address!r} with --engine {name}")
    return LocalEngine(workers, device, trackers)
