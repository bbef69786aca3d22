"""The ten latents of a scene: their names and their two scales.

The released files call numbers in [-1, 1] raw (`raw_latents.npy`) and those that the scene is built from latents
(`latents.npy`): positions in [-3, 3], angles and hues in [-π/2, π/2]. Here the first are *unit* and the second *scene*
latents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError

__all__ = ["LATENTS", "check_latents", "to_scene", "to_unit"]

LATENTS = (
    "x",
    "y",
    "z",
    "rotation 1",
    "rotation 2",
    "rotation 3",
    "spotlight angle",
    "object hue",
    "spotlight hue",
    "ground hue",
)
"""What each column of the latents is."""

_REACH = np.array([3.0] * 3 + [math.pi / 2] * 7)


def to_scene(unit: NDArray[Any]) -> NDArray[np.float64]:
    """Latents in [-1, 1] as the scene takes them: positions in [-3, 3], angles and hues in [-π/2, π/2]."""
    return check_latents("unit", unit) * _REACH


def to_unit(scene: NDArray[Any]) -> NDArray[np.float64]:
    """The inverse of `to_scene`."""
    return check_latents("scene", scene) / _REACH


def check_latents(name: str, latents: NDArray[Any]) -> NDArray[np.float64]:
    """Return latents as float64 if they are finite and have ten columns."""
    array = np.asarray(latents, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(LATENTS):
        raise InputError(f"{name} must have shape [count, {len(LATENTS)}], got {list(array.shape)}")
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite of {array.size} values")
    return array
