"""Newell's teapot as triangles."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib.resources import files
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mesh", "newell_patches", "teapot_mesh"]

_DIVISIONS = 12


@final
@dataclass(frozen=True)
class Mesh:
    """Triangles with a normal at each vertex.

    Args:
        vertices: Places, [vertices, 3].
        normals: Of length 1, to one of the two sides, [vertices, 3].
        triangles: Numbers of vertices, [triangles, 3].
    """

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    triangles: NDArray[np.int32]


def newell_patches() -> NDArray[np.float64]:
    """Control points of the 32 bicubic Bézier patches, [32, 4, 4, 3]."""
    text = files("identica.rendering").joinpath("data/newell_teapot.json").read_text(encoding="utf-8")
    numbers = json.loads(text)
    return np.array(numbers["vertices"])[np.array(numbers["patches"]).reshape(-1, 4, 4)]


def teapot_mesh(scale: float = 1.0, centre: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mesh:
    """The teapot with its spout halfway between x and -y, as triangles.

    Args:
        scale: Of Newell's numbers.
        centre: The point of Newell's teapot that becomes the origin.
    """
    patches = newell_patches()
    steps = np.linspace(0.0, 1.0, _DIVISIONS + 1)
    places = np.einsum("ui,vj,pijc->puvc", _bernstein(steps), _bernstein(steps), patches)
    inner = np.clip(steps, 1e-3, 1 - 1e-3)  # some edges are single points, where slopes vanish
    along_u = np.einsum("ui,vj,pijc->puvc", _slopes(inner), _bernstein(inner), patches)
    along_v = np.einsum("ui,vj,pijc->puvc", _bernstein(inner), _slopes(inner), patches)
    normals = np.cross(along_u, along_v)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    grid = np.arange(len(patches) * steps.size**2).reshape(len(patches), steps.size, steps.size)
    a, b, c, d = grid[:, :-1, :-1], grid[:, 1:, :-1], grid[:, 1:, 1:], grid[:, :-1, 1:]
    triangles = np.concatenate([np.stack(one, axis=-1).reshape(-1, 3) for one in ((a, b, c), (a, c, d))])
    vertices = scale * (places.reshape(-1, 3) - np.array(centre))
    return Mesh(_turned(vertices), _turned(normals.reshape(-1, 3)), triangles.astype(np.int32))


def _bernstein(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The four cubic weights at each t, [t, 4]."""
    return np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], axis=1)


def _slopes(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of the four weights."""
    return 3 * np.stack([-((1 - t) ** 2), (1 - t) * (1 - 3 * t), t * (2 - 3 * t), t**2], axis=1)


def _turned(points: NDArray[np.float64]) -> NDArray[np.float32]:
    """From the spout along x to the spout halfway between x and -y."""
    across = (points[:, 1] - points[:, 0]) / math.sqrt(2)
    along = (points[:, 0] + points[:, 1]) / math.sqrt(2)
    return np.stack([along, across, points[:, 2]], axis=1).astype(np.float32)
