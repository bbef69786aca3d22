"""Rays in the object's frame, compiled: most cannot meet the object, and need not be cast."""

from __future__ import annotations

from typing import Any

import numpy as np

from identica.rendering._shading import jitted

__all__ = ["CHANNELS", "add", "meets_box", "near", "offer", "turned"]

CHANNELS = 6
"""Sums of a pixel, each of white light and of the spotlight: the object's colour, the ground's, and all gloss."""

_GLOSS = 4

_ZERO, _ONE = np.float32(0), np.float32(1)
_LARGE, _SMALL = np.float32(1e30), np.float32(1e-12)


@jitted
def near(p: Any, to: Any, reach: Any, body: Any) -> Any:
    """Whether the way from p to p + to comes as near to the object as `reach`."""
    x, y, z = body.centre[0] - p[0], body.centre[1] - p[1], body.centre[2] - p[2]
    limit = (body.radius + reach) * (body.radius + reach)
    distance = x * x + y * y + z * z
    if distance < limit:
        return True
    along = x * to[0] + y * to[1] + z * to[2]
    if along <= _ZERO:
        return False
    length = to[0] * to[0] + to[1] * to[1] + to[2] * to[2]
    if along < length:
        return (distance - limit) * length < along * along
    x, y, z = x - to[0], y - to[1], z - to[2]
    return x * x + y * y + z * z < limit


@jitted
def turned(to: Any, turn: Any) -> Any:
    """A direction of the world in the object's frame."""
    return (
        to[0] * turn[0][0] + to[1] * turn[1][0] + to[2] * turn[2][0],
        to[0] * turn[0][1] + to[1] * turn[1][1] + to[2] * turn[2][1],
        to[0] * turn[0][2] + to[1] * turn[1][2] + to[2] * turn[2][2],
    )


@jitted
def meets_box(start: Any, to: Any, box: Any) -> Any:
    """Whether a ray in the object's frame meets the box around it."""
    enter, leave = _ZERO, _LARGE
    for k in range(3):
        inverse = _ONE / (to[k] if abs(to[k]) > _SMALL else _SMALL)
        one, other = (box[0][k] - start[k]) * inverse, (box[1][k] - start[k]) * inverse
        enter, leave = max(enter, min(one, other)), min(leave, max(one, other))
    return leave >= enter


@jitted
def add(pixel: Any, channel: Any, colour: Any, gloss: Any, room: Any) -> None:
    """Add light to the sums of a pixel."""
    room.sums[pixel, channel] += colour
    room.sums[pixel, _GLOSS + channel % 2] += gloss


@jitted
def offer(p: Any, to: Any, light: Any, target: Any, body: Any, room: Any, count: Any) -> Any:
    """Add light to a sum at once, or write the shadow ray that decides about it. Returns the number of rays."""
    if light[0] + light[1] <= _ZERO:
        return count
    if near(p, to, _ZERO, body):
        start = turned((p[0] - body.origin[0], p[1] - body.origin[1], p[2] - body.origin[2]), body.turn)
        way = turned(to, body.turn)
        if meets_box(start, way, body.box):
            for k in range(3):
                room.rays[0, count, k], room.rays[1, count, k] = start[k], way[k]
            room.weights[count, 0], room.weights[count, 1], room.targets[count] = light[0], light[1], target
            return count + 1
    add(target // CHANNELS, target % CHANNELS, light[0], light[1], room)
    return count
