"""Light at a point, compiled: all lights are white but the spotlight, so that one number a light is enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["compiled", "cone", "reflected", "srgb_table"]

compiled: Any = njit(cache=True, fastmath=True, error_model="numpy")
_PI = np.float32(math.pi)
_ONE, _HALF, _QUARTER = np.float32(1), np.float32(0.5), np.float32(0.25)
_TINY = np.float32(1e-6)


@compiled
def reflected(n: Any, v: Any, l: Any, gloss: Any, alpha: Any) -> Any:
    """What a surface reflects of light from the direction `l` to the viewer at `v`, its cosine included."""
    cos_light = n[0] * l[0] + n[1] * l[1] + n[2] * l[2]
    if cos_light <= 0:
        return np.float32(0)
    cos_view = max(n[0] * v[0] + n[1] * v[1] + n[2] * v[2], _TINY)
    # The half vector is (l + v) / |l + v|, and |l + v|² = 2 + 2 l·v.
    length = 2 * (_ONE + v[0] * l[0] + v[1] * l[1] + v[2] * l[2])
    cos_half = (cos_light + cos_view) / math.sqrt(max(length, _TINY))
    square = alpha * alpha
    spread = cos_half * cos_half * (square - _ONE) + _ONE
    density = square / (_PI * spread * spread)
    seen = cos_view * math.sqrt(cos_light * cos_light * (_ONE - square) + square)
    lit = cos_light * math.sqrt(cos_view * cos_view * (_ONE - square) + square)
    return cos_light * ((_ONE - gloss) / _PI + gloss * density * _HALF / (seen + lit))


@compiled
def _fade(z: Any, edge: Any, width: Any) -> Any:
    """From 0 at the edge of the cone to 1 where its rim ends; `z` is the cosine of the angle to its axis."""
    t = min(max((z - edge) / width, np.float32(0)), _ONE)
    return t * t * (3 - 2 * t)


@compiled
def cone(p: Any, spot: Any, axes: Any, disc: Any, radius: Any, edge: Any, width: Any) -> Any:
    """Part of the spotlight's cone that reaches a point, averaged over the points of its disc.

    Args:
        p: The point.
        spot: Centre of the light.
        axes: Where it looks, and two directions across, [3, 3].
        disc: Points of the unit disc, [count, 2].
        radius: Of the light.
        edge: Cosine at which the cone ends.
        width: By how much more the cosine grows until all light passes.
    """
    x, y, z = p[0] - spot[0], p[1] - spot[1], p[2] - spot[2]
    distance = math.sqrt(x * x + y * y + z * z)
    cosine = (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]) / distance
    shift = _HALF * radius / distance  # more than the disc can change the cosine near the edge
    if cosine + shift <= edge:
        return np.float32(0)
    if cosine - shift >= edge + width:
        return _ONE
    total = np.float32(0)
    for k in range(disc.shape[0]):
        a, b = radius * disc[k, 0], radius * disc[k, 1]
        dx = x - a * axes[1, 0] - b * axes[2, 0]
        dy = y - a * axes[1, 1] - b * axes[2, 1]
        dz = z - a * axes[1, 2] - b * axes[2, 2]
        along = dx * axes[0, 0] + dy * axes[0, 1] + dz * axes[0, 2]
        total += _fade(along / math.sqrt(dx * dx + dy * dy + dz * dz), edge, width)
    return total / np.float32(disc.shape[0])


def srgb_table(entries: int) -> NDArray[np.uint8]:
    """Bytes of sRGB for linear light from 0 to 1 in equal steps."""
    light = np.linspace(0.0, 1.0, entries)
    bright = 1.055 * light ** (1 / 2.4) - 0.055
    return np.round(255 * np.where(light <= 0.0031308, 12.92 * light, bright)).astype(np.uint8)
