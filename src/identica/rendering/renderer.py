"""Pictures from latents: Embree finds what is seen and what is in shadow, compiled code shades it."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica._install import how_to_install
from identica.rendering import _samples
from identica.rendering._parts import Body, Camera, Ground, Lights, Room
from identica.rendering.placing import Placing, place
from identica.rendering.scene import Scene
from identica.rendering.teapot import teapot_mesh

__all__ = ["TeapotRenderer", "check_installed"]

_SCENE = Scene()
_LEVELS = 1 << 14
_DISC = 8
_MARGIN = 1e-3


@final
class TeapotRenderer:
    """Renders the scene of 3DIdent on a CPU. A picture depends on its latents alone, not on others beside it.

    Args:
        size: Pixels of a side.
        samples: Rays through a pixel, each with one point of each light.
        scene: What is the same in all pictures.
    """

    def __init__(self, size: int, samples: int = 4, scene: Scene = _SCENE) -> None:
        self.size, self.samples = _checks.at_least_one("size", size), _checks.at_least_one("samples", samples)
        self.scene, self._kernels = scene, _compiled()
        units = _samples.unit_samples(size * size, samples)
        directions = _float32(_samples.camera_directions(scene, size, units))
        points = _float32(_samples.light_points(scene, units))
        self._camera = Camera(_float32(scene.camera), directions, points, samples)
        self._lights = _lights(scene)
        table, pixels = np.empty((len(units), 6), np.float32), np.empty((size * size, 5), np.float32)
        self._ground = Ground(np.float32(scene.ground_height), table, pixels)
        self._kernels.ground_table(self._camera, self._lights, self._ground)
        self._room = _room(size * size, len(units))
        self._levels = _srgb_table(_LEVELS)
        self._build_teapot()

    def render(self, latents: NDArray[Any]) -> NDArray[np.uint8]:
        """Pictures of scene latents, [pictures, 10], as sRGB bytes, [pictures, size, size, 3]."""
        return self.render_placed(place(self.scene, latents))

    def render_placed(self, placing: Placing) -> NDArray[np.uint8]:
        """Pictures of things that were placed, and coloured, in another way."""
        count = len(placing.origins)
        pictures = np.empty((count, self.size * self.size, 3), np.uint8)
        for index in range(count):
            self._render_one(placing, index, pictures[index])
        return pictures.reshape(count, self.size, self.size, 3)

    def _build_teapot(self) -> None:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        mesh = teapot_mesh(self.scene.teapot_scale, self.scene.teapot_centre)
        self._embree = EmbreeScene()
        self._shape = TriangleMesh(self._embree, mesh.vertices, mesh.triangles)
        self._mesh = (mesh.triangles, mesh.normals)
        box = np.stack([mesh.vertices.min(axis=0) - _MARGIN, mesh.vertices.max(axis=0) + _MARGIN])
        self._box, self._middle = _numbers(box), box.mean(axis=0).astype(np.float64)
        self._radius = np.float32(np.linalg.norm(mesh.vertices - self._middle, axis=1).max() + _MARGIN)
        above = self.scene.size / 2 + 3 + self._radius - self.scene.ground_height  # as high as the object can be
        slants = [above * math.tan(self.scene.sun_angle / 2), self.scene.area_side]
        self._slants = _float32(slants)

    def _render_one(self, placing: Placing, index: int, picture: NDArray[np.uint8]) -> None:
        origin, turn, spot = placing.origins[index], placing.rotations[index], placing.spots[index]
        body = Body(
            _numbers(origin),
            _numbers(turn),
            _numbers(origin + turn @ self._middle),
            self._radius,
            self._box,
            _numbers(spot),
            _axes(origin - spot),
        )
        kernels, room = self._kernels, self._room
        room.sums[:], room.seen[:] = 0, 0
        hits = self._visible(body)
        count = kernels.shade_object(self._camera, self._lights, body, self._mesh, hits, room)
        count = kernels.shade_ground(self._camera, self._lights, body, self._ground, self._slants, room, count)
        if count:
            starts, ways = room.rays[:, :count]
            kernels.add_unshadowed(self._embree.run(starts, ways, dists=1.0, query="OCCLUDED"), room)
        kernels.to_bytes(room.sums, self.samples, _float32(placing.colours[index]), self._levels, picture)

    def _visible(self, body: Body) -> tuple[NDArray[Any], ...]:
        """For each ray that may meet the object its triangle, or -1, the place in it, and the distance."""
        count = self._kernels.object_rays(self._camera, body, self._room)
        if count == 0:
            empty = np.empty(0, np.float32)
            return np.empty(0, np.int32), empty, empty, empty
        starts, ways = self._room.rays[:, :count]
        found = self._embree.run(starts, ways, output=1)
        return found["primID"], found["u"], found["v"], found["tfar"]


def check_installed() -> None:
    """Raise if the libraries that render are not there."""
    _compiled()


def _compiled() -> Any:
    try:
        import embreex  # noqa: F401

        from identica.rendering import _kernels
    except ImportError as error:
        raise InputError(f"rendering needs {error.name}: {how_to_install('render')}") from error
    return _kernels


def _lights(scene: Scene) -> Lights:
    """Lamps as Blender reads their strengths: a watt of the sphere goes all ways, one of the square a fourth down."""
    edge = math.cos(scene.spot_angle / 2)
    numbers = [
        scene.sun_strength,
        scene.area_power / 4,
        scene.spot_power / (4 * math.pi),
        scene.spot_radius,
        edge,
        max(scene.spot_blend * (1 - edge), 1e-6),
    ]
    disc = _numbers(_samples.disc_points(_samples.unit_samples(1, _DISC)[:, :2]))
    lamps = map(np.float32, numbers)
    gloss = map(np.float32, (scene.gloss, scene.gloss_rise, scene.gloss_white, scene.roughness**2))
    return Lights._make([*lamps, disc, *gloss])


def _room(pixels: int, count: int) -> Room:
    """Room for the passes over so many samples: at most three shadow rays each."""
    return Room(
        np.empty((pixels, 6), np.float32),
        np.empty((2, 3 * count, 3), np.float32),
        np.empty((3 * count, 2), np.float32),
        np.empty(3 * count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.uint8),
    )


def _axes(direction: NDArray[np.float64]) -> tuple[Any, ...]:
    """A direction of length 1 and two across it."""
    first = direction / np.linalg.norm(direction)
    second = np.cross(first, [0.0, 0.0, 1.0] if abs(first[2]) < 0.9 else [1.0, 0.0, 0.0])
    second /= np.linalg.norm(second)
    return _numbers(np.stack([first, second, np.cross(first, second)]))


def _float32(values: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)


def _srgb_table(entries: int) -> NDArray[np.uint8]:
    """Bytes of sRGB for linear light from 0 to 1 in equal steps."""
    light = np.linspace(0.0, 1.0, entries)
    bright = 1.055 * light ** (1 / 2.4) - 0.055
    return np.round(255 * np.where(light <= 0.0031308, 12.92 * light, bright)).astype(np.uint8)


def _numbers(values: NDArray[Any]) -> tuple[Any, ...]:
    """A vector or a matrix as tuples, which compiled code reads faster than arrays."""
    if values.ndim == 1:
        return tuple(np.float32(value) for value in values)
    return tuple(_numbers(row) for row in values)
