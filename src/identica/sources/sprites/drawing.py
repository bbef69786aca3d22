"""Sprites with smooth edges: a square, a triangle, a star and a cross, of any size, angle and place."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["FRAME", "SHAPES", "draw_sprites", "outlines"]

FRAME = 64
"""Height and width of a picture of a sprite, in pixels."""

SHAPES = ("square", "triangle", "star_4", "spoke_4")
"""Names of shapes, in the order of their classes."""

# Pixels are drawn finer by this factor on each side, and averaged.
_FINER = 8
# The waist of the star against its tips, and the arms of the cross against half their width.
_WAIST, _ARM = 0.4, 3.0

Array = NDArray[np.float64]


def outlines() -> Mapping[str, Array]:
    """Corners of each shape, [corners, 2], of area 1 around their centre of mass."""
    square = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=np.float64)
    triangle = _spread(3, 1.0)
    tips, waist = _spread(4, 1.0), _spread(4, _WAIST, math.pi / 4)
    star = np.stack([tips, waist], axis=1).reshape(-1, 2)
    arm = np.array([(_ARM, -1), (_ARM, 1), (1, 1)], dtype=np.float64)
    cross = np.concatenate([arm @ turn.T for turn in _turns(np.arange(4) * math.pi / 2)])
    return {name: _of_unit_area(shape) for name, shape in zip(SHAPES, (square, triangle, star, cross), strict=True)}


def draw_sprites(shapes: NDArray[np.int64], scales: Array, angles: Array, x: Array, y: Array) -> NDArray[np.uint8]:
    """Pictures of white sprites on black, [count, 64, 64], from 0 to 255.

    Args:
        shapes: Classes of the shapes.
        scales: Square roots of the areas, in frames: a sprite of scale 0.5 covers a quarter of the frame.
        angles: In radians.
        x: Centres, from 0 at the left edge to 1 at the right one.
        y: Centres, from 0 at the top to 1 at the bottom.
    """
    pictures = np.zeros((len(shapes), FRAME, FRAME), np.uint8)
    centres = np.stack([x, y], axis=1)[:, None]
    for shape, name in enumerate(SHAPES):
        rows = np.flatnonzero(shapes == shape)
        turned = np.einsum("cj,nij->nci", outlines()[name], _turns(angles[rows]))
        _fill(pictures, rows, FRAME * (turned * scales[rows, None, None] + centres[rows]))
    return pictures


def _fill(pictures: NDArray[np.uint8], rows: NDArray[np.int64], corners: Array) -> None:
    """Draw polygons, given in pixels, [rows, corners, 2], each on the part of its picture around it."""
    from PIL import Image, ImageDraw

    low = np.clip(np.floor(corners.min(axis=1)).astype(int), 0, FRAME)
    high = np.clip(np.ceil(corners.max(axis=1)).astype(int) + 1, 0, FRAME)
    # Pillow fills the pixels that the outline touches too, so areas come out a little large, by 8 % of the smallest.
    points = ((corners - low[:, None]) * _FINER).reshape(len(rows), 2 * corners.shape[1]).tolist()
    for row, (left, top), (right, bottom), outline in zip(rows, low.tolist(), high.tolist(), points, strict=True):
        if left < right and top < bottom:  # otherwise outside
            fine = Image.new("L", ((right - left) * _FINER, (bottom - top) * _FINER))
            ImageDraw.Draw(fine).polygon(outline, fill=255)
            pictures[row, top:bottom, left:right] = np.asarray(fine.reduce(_FINER))


def _spread(count: int, radius: float, start: float = 0.0) -> Array:
    """Points on a circle, the first one upwards."""
    angles = start - math.pi / 2 + 2 * math.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _turns(angles: Array) -> Array:
    """Rotations, [angles, 2, 2]."""
    cosines, sines = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([cosines, -sines], axis=-1), np.stack([sines, cosines], axis=-1)], axis=-2)


def _of_unit_area(corners: Array) -> Array:
    """The same shape, of area 1 (by the shoelace formula); all shapes are centred by their symmetry."""
    x, y = corners.T
    area = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    return corners / math.sqrt(area)
