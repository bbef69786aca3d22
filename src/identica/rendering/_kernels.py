"""The passes over the samples of one picture, compiled. Between them, Embree casts the rays that they write.

A sample is a ray from the camera together with a point on each light. What a sample sees goes into four sums of its
pixel: the object and the ground, each by white light and by the spotlight.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from identica.rendering._shading import compiled, cone, reflected

__all__ = ["CHANNELS", "add_unshadowed", "ground_lights", "object_rays", "shade_ground", "shade_object", "to_bytes"]

CHANNELS = 4
_ZERO = np.float32(0)
_FAR = np.float32(200)
_LIFT = np.float32(2e-3)


@compiled
def _near(p: Any, d: Any, centre: Any, radius: Any) -> bool:
    """Whether the segment from p to p + d comes near the object."""
    x, y, z = centre[0] - p[0], centre[1] - p[1], centre[2] - p[2]
    t = (x * d[0] + y * d[1] + z * d[2]) / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    t = min(max(t, _ZERO), np.float32(1))
    x, y, z = x - t * d[0], y - t * d[1], z - t * d[2]
    return x * x + y * y + z * z < radius * radius


@compiled
def _turned(p: Any, turn: Any) -> Any:
    """A direction of the world in the object's frame."""
    return (
        p[0] * turn[0, 0] + p[1] * turn[1, 0] + p[2] * turn[2, 0],
        p[0] * turn[0, 1] + p[1] * turn[1, 1] + p[2] * turn[2, 1],
        p[0] * turn[0, 2] + p[1] * turn[1, 2] + p[2] * turn[2, 2],
    )


@compiled
def _meets_box(o: Any, d: Any, box: Any) -> bool:
    """Whether a ray in the object's frame meets the box around it."""
    enter, leave = -np.float32(1e30), np.float32(1e30)
    for k in range(3):
        inverse = np.float32(1) / (d[k] if abs(d[k]) > np.float32(1e-12) else np.float32(1e-12))
        one, other = (box[0, k] - o[k]) * inverse, (box[1, k] - o[k]) * inverse
        enter, leave = max(enter, min(one, other)), min(leave, max(one, other))
    return leave >= max(enter, _ZERO)


@compiled
def object_rays(
    directions: Any, camera: Any, origin: Any, turn: Any, centre: Any, radius: Any, box: Any, which: Any, rays: Any
) -> int:
    """Write the samples that may see the object, in its own frame; return how many they are."""
    o = _turned((camera[0] - origin[0], camera[1] - origin[1], camera[2] - origin[2]), turn)
    x, y, z = centre[0] - camera[0], centre[1] - camera[1], centre[2] - camera[2]
    limit = x * x + y * y + z * z - radius * radius
    count = 0
    for sample in range(directions.shape[0]):
        d = directions[sample]
        along = x * d[0] + y * d[1] + z * d[2]
        if along * along < limit:
            continue
        turned = _turned(d, turn)
        if not _meets_box(o, turned, box):
            continue
        which[count] = sample
        for k in range(3):
            rays[0, count, k], rays[1, count, k] = o[k], turned[k]
        count += 1
    return count


@compiled
def _cast(p: Any, d: Any, weight: Any, target: Any, body: Any, rays: Any, weights: Any, targets: Any, count: int) -> Any:
    """Write a shadow ray if the object may be in its way, and return how many there are; -1 if it cannot be."""
    origin, turn, centre, radius, box = body
    if not _near(p, d, centre, radius):
        return -1
    o = _turned((p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]), turn)
    turned = _turned(d, turn)
    if not _meets_box(o, turned, box):
        return -1
    for k in range(3):
        rays[0, count, k], rays[1, count, k] = o[k], turned[k]
    weights[count], targets[count] = weight, target
    return count + 1


@compiled
def _offer(p: Any, d: Any, weight: Any, pixel: Any, channel: Any, body: Any, out: Any, count: int) -> int:
    """Add light to a pixel at once, or write the shadow ray that decides about it."""
    sums, rays, weights, targets = out
    if weight <= _ZERO:
        return count
    written = _cast(p, d, weight, pixel * CHANNELS + channel, body, rays, weights, targets, count)
    if written < 0:
        sums[pixel, channel] += weight
        return count
    return written


@compiled
def _sun_light(n: Any, v: Any, at: Any, lamps: Any, material: Any) -> Any:
    direction = (at[0], at[1], at[2])
    return direction, lamps[0] * reflected(n, v, direction, material[0], material[1])


@compiled
def _area_light(p: Any, n: Any, v: Any, at: Any, lamps: Any, material: Any) -> Any:
    """Direction to a point of the square light, which looks down, and what is reflected of it."""
    x, y, z = at[3] - p[0], at[4] - p[1], at[5] - p[2]
    if z <= _ZERO:
        return (x, y, z), _ZERO
    square = x * x + y * y + z * z
    distance = math.sqrt(square)
    unit = (x / distance, y / distance, z / distance)
    return (x, y, z), lamps[1] * z / (distance * square) * reflected(n, v, unit, material[0], material[1])


@compiled
def _spot_light(p: Any, n: Any, v: Any, at: Any, lamps: Any, material: Any, spot: Any, axes: Any, disc: Any) -> Any:
    """Direction to a point of the spotlight, and what is reflected of it."""
    x, y, z = spot[0] - p[0], spot[1] - p[1], spot[2] - p[2]
    part = cone(p, spot, axes, disc, lamps[3], lamps[4], lamps[5])
    if part <= _ZERO:
        return (x, y, z), _ZERO
    square = x * x + y * y + z * z
    distance = math.sqrt(square)
    weight = part * lamps[2] / square
    weight *= reflected(n, v, (x / distance, y / distance, z / distance), material[0], material[1])
    a, b = lamps[3] * at[6], lamps[3] * at[7]
    x += a * axes[1, 0] + b * axes[2, 0]
    y += a * axes[1, 1] + b * axes[2, 1]
    z += a * axes[1, 2] + b * axes[2, 2]
    return (x, y, z), weight


@compiled
def shade_object(
    directions: Any, camera: Any, points: Any, samples: int, lamps: Any, material: Any, spot: Any, axes: Any, disc: Any,
    which: Any, hits: Any, mesh: Any, body: Any, out: Any, seen: Any,
) -> int:  # fmt: skip
    """Shade the samples that hit the object; `seen` marks them. Returns the number of shadow rays."""
    triangle, us, vs, distances = hits
    corners, normals = mesh
    turn = body[1]
    count = 0
    for k in range(which.shape[0]):
        if triangle[k] < 0:
            continue
        sample = which[k]
        seen[sample] = 1
        d = directions[sample]
        a, b, c = corners[triangle[k], 0], corners[triangle[k], 1], corners[triangle[k], 2]
        u, w = us[k], vs[k]
        x = (1 - u - w) * normals[a, 0] + u * normals[b, 0] + w * normals[c, 0]
        y = (1 - u - w) * normals[a, 1] + u * normals[b, 1] + w * normals[c, 1]
        z = (1 - u - w) * normals[a, 2] + u * normals[b, 2] + w * normals[c, 2]
        nx = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z
        ny = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z
        nz = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z
        side = 1 / math.sqrt(nx * nx + ny * ny + nz * nz)
        side = -side if nx * d[0] + ny * d[1] + nz * d[2] > 0 else side
        n = (side * nx, side * ny, side * nz)
        v = (-d[0], -d[1], -d[2])
        far = distances[k]
        p = (
            camera[0] + far * d[0] + _LIFT * n[0], camera[1] + far * d[1] + _LIFT * n[1],
            camera[2] + far * d[2] + _LIFT * n[2],
        )  # fmt: skip
        pixel, at = sample // samples, points[sample]
        to, weight = _sun_light(n, v, at, lamps, material)
        count = _offer(p, (_FAR * to[0], _FAR * to[1], _FAR * to[2]), weight, pixel, 0, body, out, count)
        to, weight = _area_light(p, n, v, at, lamps, material)
        count = _offer(p, to, weight, pixel, 0, body, out, count)
        to, weight = _spot_light(p, n, v, at, lamps, material, spot, axes, disc)
        count = _offer(p, to, weight, pixel, 1, body, out, count)
    return count


@compiled
def ground_lights(directions: Any, camera: Any, height: Any, points: Any, lamps: Any, material: Any, table: Any) -> None:
    """Where each sample meets the ground, and its light of sun and square light, which are the same in all pictures."""
    n = (_ZERO, _ZERO, np.float32(1))
    for sample in range(directions.shape[0]):
        d, at = directions[sample], points[sample]
        far = (height - camera[2]) / d[2]
        p = (camera[0] + far * d[0], camera[1] + far * d[1], height)
        v = (-d[0], -d[1], -d[2])
        table[sample, 0], table[sample, 1] = p[0], p[1]
        table[sample, 2] = _sun_light(n, v, at, lamps, material)[1]
        table[sample, 3] = _area_light(p, n, v, at, lamps, material)[1]


@compiled
def shade_ground(
    directions: Any, height: Any, points: Any, samples: int, lamps: Any, material: Any, spot: Any, axes: Any, disc: Any,
    table: Any, body: Any, out: Any, seen: Any, count: int,
) -> int:  # fmt: skip
    """Shade the samples that do not see the object. Returns the number of shadow rays."""
    n = (_ZERO, _ZERO, np.float32(1))
    for sample in range(directions.shape[0]):
        if seen[sample]:
            continue
        pixel, at, d, known = sample // samples, points[sample], directions[sample], table[sample]
        p = (known[0], known[1], height)
        sun = (_FAR * at[0], _FAR * at[1], _FAR * at[2])
        count = _offer(p, sun, known[2], pixel, 2, body, out, count)
        square = (at[3] - p[0], at[4] - p[1], at[5] - p[2])
        count = _offer(p, square, known[3], pixel, 2, body, out, count)
        to, weight = _spot_light(p, n, (-d[0], -d[1], -d[2]), at, lamps, material, spot, axes, disc)
        count = _offer(p, to, weight, pixel, 3, body, out, count)
    return count


@compiled
def add_unshadowed(hidden: Any, weights: Any, targets: Any, sums: Any) -> None:
    """Add the light of the shadow rays that nothing hides."""
    for k in range(hidden.shape[0]):
        if hidden[k] < 0:
            sums[targets[k] // CHANNELS, targets[k] % CHANNELS] += weights[k]


@compiled
def to_bytes(sums: Any, samples: int, colours: Any, table: Any, picture: Any) -> None:
    """Colour the sums of each pixel and write them as sRGB."""
    scale, last = np.float32(1.0 / samples), np.float32(table.shape[0] - 1)
    for pixel in range(sums.shape[0]):
        s = sums[pixel]
        for k in range(3):
            light = colours[0, k] * (s[0] + colours[1, k] * s[1]) + colours[2, k] * (s[2] + colours[1, k] * s[3])
            light = min(max(light * scale, _ZERO), np.float32(1))
            picture[pixel, k] = table[int(light * last + np.float32(0.5))]
