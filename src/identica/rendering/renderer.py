"""Pictures from latents: Embree finds what is seen and what is in shadow, compiled code shades it."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica.rendering import _kernels, _samples
from identica.rendering._shading import srgb_table
from identica.rendering.placing import Placing, place
from identica.rendering.scene import Scene
from identica.rendering.teapot import teapot_mesh

__all__ = ["TeapotRenderer"]

_SCENE = Scene()
_LEVELS = 1 << 14
_DISC = 8


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
        self.scene = scene
        units = _samples.unit_samples(size * size, samples)
        self._directions = _float32(_samples.camera_directions(scene, size, units))
        self._points = _float32(_samples.light_points(scene, units))
        self._camera, self._height = _float32(scene.camera), np.float32(scene.ground_height)
        self._lamps, self._material = _lamps(scene), _float32([scene.gloss, scene.roughness**2])
        self._table = np.empty((len(units), 4), np.float32)
        _kernels.ground_lights(
            self._directions, self._camera, self._height, self._points, self._lamps, self._material, self._table
        )
        self._disc = _float32(_samples.disc_points(_samples.unit_samples(1, _DISC)[:, :2]))
        self._levels = srgb_table(_LEVELS)
        self._build_teapot()
        self._which = np.empty(len(units), np.int32)
        self._rays = np.empty((2, 3 * len(units), 3), np.float32)
        self._weights, self._targets = np.empty(3 * len(units), np.float32), np.empty(3 * len(units), np.int32)

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
        self._box = np.stack([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]) + np.float32([[-1e-3], [1e-3]])
        self._middle = self._box.mean(axis=0).astype(np.float64)
        self._radius = np.float32(np.linalg.norm(mesh.vertices - self._middle, axis=1).max() + 1e-3)

    def _render_one(self, placing: Placing, index: int, picture: NDArray[np.uint8]) -> None:
        turn = placing.rotations[index]
        centre = _float32(placing.origins[index] + turn @ self._middle)
        body = (_float32(placing.origins[index]), _float32(turn), centre, self._radius, self._box)
        spot, axes = _float32(placing.spots[index]), _axes(placing.origins[index] - placing.spots[index])
        sums = np.zeros((self.size * self.size, _kernels.CHANNELS), np.float32)
        out = (sums, self._rays, self._weights, self._targets)
        lights = (self._lamps, self._material, spot, axes, self._disc)
        seen = np.zeros(len(self._directions), np.uint8)
        which, hits = self._visible(body)
        count = _kernels.shade_object(
            self._directions, self._camera, self._points, self.samples, *lights, which, hits, self._mesh, body, out, seen
        )
        count = _kernels.shade_ground(
            self._directions, self._height, self._points, self.samples, *lights, self._table, body, out, seen, count
        )
        if count:
            hidden = self._embree.run(self._rays[0, :count], self._rays[1, :count], dists=1.0, query="OCCLUDED")
            _kernels.add_unshadowed(hidden, self._weights[:count], self._targets[:count], sums)
        _kernels.to_bytes(sums, self.samples, _float32(placing.colours[index]), self._levels, picture)

    def _visible(self, body: tuple[Any, ...]) -> tuple[NDArray[np.int32], tuple[NDArray[Any], ...]]:
        """The samples that may see the object, and what Embree says of them."""
        count = _kernels.object_rays(self._directions, self._camera, *body, self._which, self._rays)
        if count == 0:
            empty = np.empty(0, np.float32)
            return self._which[:0], (np.empty(0, np.int32), empty, empty, empty)
        found = self._embree.run(self._rays[0, :count], self._rays[1, :count], output=1)
        return self._which[:count], (found["primID"], found["u"], found["v"], found["tfar"])


def _lamps(scene: Scene) -> NDArray[np.float32]:
    """Strengths of sun, square light and spotlight; radius, edge and fading of the last."""
    edge = math.cos(scene.spot_angle / 2)
    spot = scene.spot_power / (4 * math.pi)
    return _float32(
        [scene.sun_strength, scene.area_power / 4, spot, scene.spot_radius, edge, scene.spot_blend * (1 - edge)]
    )


def _axes(direction: NDArray[np.float64]) -> NDArray[np.float32]:
    """A direction of length 1 and two across it, [3, 3]."""
    first = direction / np.linalg.norm(direction)
    second = np.cross(first, [0.0, 0.0, 1.0] if abs(first[2]) < 0.9 else [1.0, 0.0, 0.0])
    second /= np.linalg.norm(second)
    return _float32(np.stack([first, second, np.cross(first, second)]))


def _float32(values: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
