"""Samples of a pixel: where its rays pass, and which points of the lights they ask."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from identica.rendering.scene import Scene

__all__ = ["camera_directions", "disc_points", "light_points", "unit_samples"]

_DIMENSIONS = 8
_FILTER_WIDTH = 3.0
_BLACKMAN_HARRIS = (0.35875, -0.48829, 0.14128, -0.01168)


def unit_samples(pixels: int, samples: int) -> NDArray[np.float64]:
    """Points of [0, 1)^8 for each sample of each pixel, spread evenly in a pixel and shifted from pixel to pixel."""
    from scipy.stats import qmc  # takes a while to import, and latents are needed without it

    even = qmc.Sobol(_DIMENSIONS, scramble=True, rng=0).random_base2(math.ceil(math.log2(samples)))[:samples]
    shifts = np.random.default_rng(0).random((pixels, 1, _DIMENSIONS))
    return ((even[None] + shifts) % 1.0).reshape(-1, _DIMENSIONS)


def camera_directions(scene: Scene, size: int, units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit directions of rays from the camera, [pixels × samples, 3]; pixels are filtered as Blender does."""
    camera = np.array(scene.camera)
    forward = -camera / np.linalg.norm(camera)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    rows, columns = np.divmod(np.repeat(np.arange(size * size), len(units) // size**2), size)
    offsets = _filtered(units[:, :2])
    reach = scene.sensor / scene.lens
    across = ((columns + 0.5 + offsets[:, 0]) / size - 0.5) * reach
    down = ((rows + 0.5 + offsets[:, 1]) / size - 0.5) * reach
    directions = forward + across[:, None] * right - down[:, None] * up
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def light_points(scene: Scene, units: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each sample a direction to the sun, a point of the square light, and one of the unit disc, [count, 8]."""
    sun = math.tan(scene.sun_angle / 2) * disc_points(units[:, 2:4])
    towards = np.concatenate([sun, np.ones((len(units), 1))], axis=1)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    square = scene.area_side * (units[:, 4:6] - 0.5)
    heights = np.full((len(units), 1), scene.area_height)
    return np.concatenate([towards, square, heights, disc_points(units[:, 6:8])], axis=1)


def disc_points(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of the unit square as points of the unit disc, of even density."""
    radius, angle = np.sqrt(units[:, 0]), 2 * math.pi * units[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _filtered(units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Even numbers as offsets with the density of a Blackman-Harris window that is 3 pixels wide."""
    places = np.linspace(0.0, 1.0, 513)
    waves = np.cos(2 * math.pi * np.arange(len(_BLACKMAN_HARRIS))[:, None] * places)
    window = np.array(_BLACKMAN_HARRIS) @ waves
    mass = np.concatenate([[0.0], np.cumsum((window[1:] + window[:-1]) / 2)])
    return _FILTER_WIDTH * (np.interp(units, mass / mass[-1], places) - 0.5)
