"""Light at a point, compiled. Colours come later: of each light, two numbers tell what colour and gloss reflect."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["cone", "jitted", "spot_light", "square_light", "sun_light"]

_ZERO, _ONE, _TWO, _THREE, _HALF = (np.float32(value) for value in (0, 1, 2, 3, 0.5))
_PI, _TINY = np.float32(math.pi), np.float32(1e-6)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def jitted(function: _Function) -> _Function:
    """Compile a function at its first call, and keep the result on disk.

    Without `fastmath`: it rounds otherwise in the process that compiles than in those that read what it kept.
    """
    compiled: Any = njit(cache=True, error_model="numpy")(function)
    return cast("_Function", compiled)


@jitted
def _reflected(n: Any, v: Any, to: Any, strength: Any, lights: Any) -> Any:
    """What a surface with normal `n` reflects of light from `to` towards `v`: from its colour, and from its gloss."""
    cos_light = n[0] * to[0] + n[1] * to[1] + n[2] * to[2]
    if cos_light <= _ZERO:
        return _ZERO, _ZERO
    cos_view = min(max(n[0] * v[0] + n[1] * v[1] + n[2] * v[2], _TINY), _ONE)
    # The half vector is (to + v) / |to + v|, and |to + v|² = 2 + 2 to·v.
    length = _TWO + _TWO * (v[0] * to[0] + v[1] * to[1] + v[2] * to[2])
    cos_half = (cos_light + cos_view) / math.sqrt(max(length, _TINY))
    square = lights.alpha * lights.alpha
    spread = cos_half * cos_half * (square - _ONE) + _ONE
    density = square / (_PI * spread * spread)
    seen = cos_view * math.sqrt(cos_light * cos_light * (_ONE - square) + square)
    lit = cos_light * math.sqrt(cos_view * cos_view * (_ONE - square) + square)
    gloss = lights.gloss + (_ONE - lights.gloss) * math.pow(_ONE - cos_view, lights.rise)
    light = strength * cos_light
    return light * (_ONE - gloss) / _PI, light * gloss * lights.white * density * _HALF / (seen + lit)


@jitted
def cone(p: Any, reach: Any, lights: Any, body: Any) -> Any:
    """Part of the spotlight's cone at a point, averaged over the light's disc; -1 if it differs within `reach`."""
    x, y, z = p[0] - body.spot[0], p[1] - body.spot[1], p[2] - body.spot[2]
    distance = math.sqrt(x * x + y * y + z * z)
    cosine = (x * body.axes[0][0] + y * body.axes[0][1] + z * body.axes[0][2]) / distance
    shift = _HALF * (lights.radius + reach) / distance  # more than these can change the cosine near the edge
    if cosine + shift <= lights.edge:
        return _ZERO
    if cosine - shift >= lights.edge + lights.width:
        return _ONE
    if reach > _ZERO:
        return -_ONE
    total = _ZERO
    for k in range(len(lights.disc)):
        a, b = lights.radius * lights.disc[k][0], lights.radius * lights.disc[k][1]
        dx = x - a * body.axes[1][0] - b * body.axes[2][0]
        dy = y - a * body.axes[1][1] - b * body.axes[2][1]
        dz = z - a * body.axes[1][2] - b * body.axes[2][2]
        along = dx * body.axes[0][0] + dy * body.axes[0][1] + dz * body.axes[0][2]
        cosine = along / math.sqrt(dx * dx + dy * dy + dz * dz)
        t = min(max((cosine - lights.edge) / lights.width, _ZERO), _ONE)
        total += t * t * (_THREE - _TWO * t)
    return total / np.float32(len(lights.disc))


@jitted
def sun_light(n: Any, v: Any, to: Any, lights: Any) -> Any:
    """What is reflected of the sun in a direction."""
    return _reflected(n, v, to, lights.sun, lights)


@jitted
def square_light(n: Any, v: Any, to: Any, lights: Any) -> Any:
    """What is reflected of the square light, which looks down; `to` leads to one of its points."""
    if to[2] <= _ZERO:
        return _ZERO, _ZERO
    square = to[0] * to[0] + to[1] * to[1] + to[2] * to[2]
    scale = _ONE / math.sqrt(square)
    unit = (to[0] * scale, to[1] * scale, to[2] * scale)
    return _reflected(n, v, unit, lights.square * unit[2] / square, lights)


@jitted
def spot_light(p: Any, n: Any, v: Any, part: Any, lights: Any, body: Any) -> Any:
    """What is reflected of the spotlight at a point that a part of its cone reaches."""
    if part <= _ZERO:
        return _ZERO, _ZERO
    x, y, z = body.spot[0] - p[0], body.spot[1] - p[1], body.spot[2] - p[2]
    square = x * x + y * y + z * z
    scale = _ONE / math.sqrt(square)
    return _reflected(n, v, (x * scale, y * scale, z * scale), part * lights.spot / square, lights)
