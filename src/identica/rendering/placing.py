"""Where things are in each picture, and their colours."""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica.rendering.latents import check_latents
from identica.rendering.scene import Scene

__all__ = ["Placing", "place"]


@final
@dataclass(frozen=True)
class Placing:
    """What differs between pictures, one row for each.

    Args:
        origins: Places of the object, [pictures, 3].
        rotations: From the object's frame to the world's, [pictures, 3, 3].
        spots: Places of the spotlight, [pictures, 3].
        colours: Linear RGB of object, spotlight and ground, [pictures, 3, 3].
    """

    origins: NDArray[np.float64]
    rotations: NDArray[np.float64]
    spots: NDArray[np.float64]
    colours: NDArray[np.float64]


def place(scene: Scene, latents: NDArray[Any]) -> Placing:
    """Read scene latents, [pictures, 10], as places, rotations and colours. Hues are taken modulo 1."""
    latents = check_latents("latents", latents)
    angle = latents[:, 6]
    height = np.full(len(latents), scene.spot_height + scene.size)
    spots = np.stack([scene.spot_distance * np.sin(angle), scene.spot_distance * np.cos(angle), height], axis=1)
    hues = (latents[:, 7:] / (2 * math.pi)) % 1.0
    colours = [[colorsys.hsv_to_rgb(h, s, 1.0) for h, s in zip(row, scene.saturations, strict=True)] for row in hues]
    return Placing(
        latents[:, :3] + np.array([0.0, 0.0, scene.size / 2]),
        _rotations(latents[:, 3:6]),
        spots,
        np.array(colours).reshape(-1, 3, 3),
    )


def _rotations(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """About the x, then the y, then the z axis of the world, [pictures, 3, 3]."""
    turns = []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        turn = np.zeros((len(angles), 3, 3))
        turn[:, axis, axis] = 1.0
        turn[:, first, first] = turn[:, second, second] = np.cos(angles[:, axis])
        turn[:, second, first] = np.sin(angles[:, axis])
        turn[:, first, second] = -np.sin(angles[:, axis])
        turns.append(turn)
    return turns[2] @ turns[1] @ turns[0]
