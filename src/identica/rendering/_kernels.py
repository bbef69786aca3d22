"""The passes over the samples of one picture, compiled. Between them, Embree casts the rays that they write.

A sample is a ray from the camera together with a point on each light.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from identica.rendering._rays import CHANNELS, add, meets_box, near, offer, turned
from identica.rendering._shading import cone, jitted, spot_light, square_light, sun_light

__all__ = ["CHANNELS", "add_unshadowed", "ground_table", "object_rays", "shade_ground", "shade_object", "to_bytes"]

_ZERO, _ONE, _HALF = np.float32(0), np.float32(1), np.float32(0.5)
_FAR, _LIFT = np.float32(200), np.float32(2e-3)


@jitted
def object_rays(camera: Any, body: Any, room: Any) -> Any:
    """Write the rays that may meet the object; return how many they are."""
    place, directions = camera.place, camera.directions
    start = turned((place[0] - body.origin[0], place[1] - body.origin[1], place[2] - body.origin[2]), body.turn)
    x, y, z = body.centre[0] - place[0], body.centre[1] - place[1], body.centre[2] - place[2]
    limit = x * x + y * y + z * z - body.radius * body.radius
    count = 0
    for sample in range(directions.shape[0]):
        to = (directions[sample, 0], directions[sample, 1], directions[sample, 2])
        along = x * to[0] + y * to[1] + z * to[2]
        if along * along < limit:
            continue
        way = turned(to, body.turn)
        if meets_box(start, way, body.box):
            room.which[count] = sample
            for k in range(3):
                room.rays[0, count, k], room.rays[1, count, k] = start[k], way[k]
            count += 1
    return count


@jitted
def _normal(corners: Any, normals: Any, u: Any, w: Any, view: Any, turn: Any) -> Any:
    """The smooth normal in a triangle, on the side of the viewer."""
    a, b, c = corners
    v = _ONE - u - w
    x = v * normals[a, 0] + u * normals[b, 0] + w * normals[c, 0]
    y = v * normals[a, 1] + u * normals[b, 1] + w * normals[c, 1]
    z = v * normals[a, 2] + u * normals[b, 2] + w * normals[c, 2]
    scale = _ONE / math.sqrt(x * x + y * y + z * z)
    nx = scale * (turn[0][0] * x + turn[0][1] * y + turn[0][2] * z)
    ny = scale * (turn[1][0] * x + turn[1][1] * y + turn[1][2] * z)
    nz = scale * (turn[2][0] * x + turn[2][1] * y + turn[2][2] * z)
    if nx * view[0] + ny * view[1] + nz * view[2] < _ZERO:
        return (-nx, -ny, -nz)
    return (nx, ny, nz)


@jitted
def _towards(camera: Any, sample: Any, p: Any, lights: Any, body: Any) -> Any:
    """The ways from a point to the sun, and to the points of the two other lights, that a sample asks."""
    at = camera.points
    a, b = lights.radius * at[sample, 6], lights.radius * at[sample, 7]
    return (
        (_FAR * at[sample, 0], _FAR * at[sample, 1], _FAR * at[sample, 2]),
        (at[sample, 3] - p[0], at[sample, 4] - p[1], at[sample, 5] - p[2]),
        (
            body.spot[0] - p[0] + a * body.axes[1][0] + b * body.axes[2][0],
            body.spot[1] - p[1] + a * body.axes[1][1] + b * body.axes[2][1],
            body.spot[2] - p[2] + a * body.axes[1][2] + b * body.axes[2][2],
        ),
    )


@jitted
def shade_object(camera: Any, lights: Any, body: Any, mesh: Any, hits: Any, room: Any) -> Any:
    """Shade the samples that meet the object, and mark them. Returns the number of shadow rays."""
    (triangles, normals), (found, us, ws, distances) = mesh, hits
    count = 0
    for k in range(found.shape[0]):
        if found[k] < 0:
            continue
        sample = room.which[k]
        room.seen[sample] = 1
        d = (camera.directions[sample, 0], camera.directions[sample, 1], camera.directions[sample, 2])
        v = (-d[0], -d[1], -d[2])
        corners = (triangles[found[k], 0], triangles[found[k], 1], triangles[found[k], 2])
        n = _normal(corners, normals, us[k], ws[k], v, body.turn)
        x = camera.place[0] + distances[k] * d[0] + _LIFT * n[0]
        y = camera.place[1] + distances[k] * d[1] + _LIFT * n[1]
        z = camera.place[2] + distances[k] * d[2] + _LIFT * n[2]
        p, target = (x, y, z), sample // camera.samples * CHANNELS
        sun, square, spot = _towards(camera, sample, p, lights, body)
        to = (camera.points[sample, 0], camera.points[sample, 1], camera.points[sample, 2])
        count = offer(p, sun, sun_light(n, v, to, lights), target, body, room, count)
        count = offer(p, square, square_light(n, v, square, lights), target, body, room, count)
        part = cone(p, _ZERO, lights, body)
        count = offer(p, spot, spot_light(p, n, v, part, lights, body), target + 1, body, room, count)
    return count


@jitted
def ground_table(camera: Any, lights: Any, ground: Any) -> None:
    """Fill in what is the same on the ground in all pictures."""
    up, table, pixels, samples = (_ZERO, _ZERO, _ONE), ground.table, ground.pixels, camera.samples
    pixels[:] = _ZERO
    for sample in range(table.shape[0]):
        v = (-camera.directions[sample, 0], -camera.directions[sample, 1], -camera.directions[sample, 2])
        far = (camera.place[2] - ground.height) / v[2]
        x, y = camera.place[0] - far * v[0], camera.place[1] - far * v[1]
        at = camera.points[sample]
        square = (at[3] - x, at[4] - y, at[5] - ground.height)
        table[sample, 0], table[sample, 1] = x, y
        table[sample, 2], table[sample, 3] = sun_light(up, v, (at[0], at[1], at[2]), lights)
        table[sample, 4], table[sample, 5] = square_light(up, v, square, lights)
        pixel = sample // samples
        pixels[pixel, 0] += x / np.float32(samples)
        pixels[pixel, 1] += y / np.float32(samples)
        pixels[pixel, 3] += table[sample, 2] + table[sample, 4]
        pixels[pixel, 4] += table[sample, 3] + table[sample, 5]
    for sample in range(table.shape[0]):
        one = pixels[sample // samples]
        one[2] = max(one[2], math.hypot(table[sample, 0] - one[0], table[sample, 1] - one[1]))


@jitted
def _shade_plain(camera: Any, lights: Any, body: Any, ground: Any, slants: Any, pixel: Any, room: Any) -> Any:
    """Shade a pixel of ground as a whole. Returns what could not be: 1 white light, 2 the spotlight, 3 both."""
    p = (ground.pixels[pixel, 0], ground.pixels[pixel, 1], ground.height)
    reach, left = ground.pixels[pixel, 2], 0
    sun, square = (_ZERO, _ZERO, _FAR), (-p[0], -p[1], camera.points[0, 5] - p[2])
    if near(p, sun, reach + slants[0], body) or near(p, square, reach + slants[1], body):
        left = 1
    else:
        add(pixel, 2, ground.pixels[pixel, 3], ground.pixels[pixel, 4], room)
    part = cone(p, max(reach, np.float32(1e-6)), lights, body)
    if part == _ZERO:
        return left
    spot = (body.spot[0] - p[0], body.spot[1] - p[1], body.spot[2] - p[2])
    if part < _ZERO or near(p, spot, reach + lights.radius, body):
        return left + 2
    x, y, z = camera.place[0] - p[0], camera.place[1] - p[1], camera.place[2] - p[2]
    scale = _ONE / math.sqrt(x * x + y * y + z * z)
    v, up = (scale * x, scale * y, scale * z), (_ZERO, _ZERO, _ONE)
    light = spot_light(p, up, v, part, lights, body)
    add(pixel, 3, np.float32(camera.samples) * light[0], np.float32(camera.samples) * light[1], room)
    return left


@jitted
def _shade_sample(
    camera: Any, lights: Any, body: Any, ground: Any, sample: Any, left: Any, room: Any, count: Any
) -> Any:
    """Shade one sample of ground."""
    known, target = ground.table, sample // camera.samples * CHANNELS
    p = (known[sample, 0], known[sample, 1], ground.height)
    sun, square, spot = _towards(camera, sample, p, lights, body)
    if left & 1:
        count = offer(p, sun, (known[sample, 2], known[sample, 3]), target + 2, body, room, count)
        count = offer(p, square, (known[sample, 4], known[sample, 5]), target + 2, body, room, count)
    if left & 2:
        part = cone(p, _ZERO, lights, body)
        if part > _ZERO:
            v = (-camera.directions[sample, 0], -camera.directions[sample, 1], -camera.directions[sample, 2])
            light = spot_light(p, (_ZERO, _ZERO, _ONE), v, part, lights, body)
            count = offer(p, spot, light, target + 3, body, room, count)
    return count


@jitted
def shade_ground(camera: Any, lights: Any, body: Any, ground: Any, slants: Any, room: Any, count: Any) -> Any:
    """Shade what does not see the object, whole pixels where it can be. Returns the number of shadow rays."""
    for pixel in range(ground.pixels.shape[0]):
        first, hidden = pixel * camera.samples, 0
        for k in range(camera.samples):
            hidden += room.seen[first + k]
        left = 3 if hidden else _shade_plain(camera, lights, body, ground, slants, pixel, room)
        if left:
            for sample in range(first, first + camera.samples):
                if not room.seen[sample]:
                    count = _shade_sample(camera, lights, body, ground, sample, left, room, count)
    return count


@jitted
def add_unshadowed(hidden: Any, room: Any) -> None:
    """Add the light of the shadow rays that nothing hides."""
    for k in range(hidden.shape[0]):
        if hidden[k] < 0:
            target = room.targets[k]
            add(target // CHANNELS, target % CHANNELS, room.weights[k, 0], room.weights[k, 1], room)


@jitted
def to_bytes(sums: Any, samples: Any, colours: Any, table: Any, picture: Any) -> None:
    """Colour the sums of each pixel and write them as sRGB."""
    scale, last = _ONE / np.float32(samples), np.float32(table.shape[0] - 1)
    for pixel in range(sums.shape[0]):
        s = sums[pixel]
        for k in range(3):
            spot = colours[1, k]
            light = colours[0, k] * (s[0] + spot * s[1]) + colours[2, k] * (s[2] + spot * s[3]) + s[4] + spot * s[5]
            picture[pixel, k] = table[int(min(max(light * scale, _ZERO), _ONE) * last + _HALF)]
