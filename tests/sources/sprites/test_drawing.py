from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from identica.sources.sprites import FRAME, SHAPES, draw_sprites, outlines


def drawn(shape: int, scale: float, angle: float = 0.0, x: float = 0.5, y: float = 0.5) -> np.ndarray:
    values = (np.array([value]) for value in (scale, angle, x, y))
    return draw_sprites(np.array([shape]), *values)[0] / 255


@pytest.mark.parametrize("name", SHAPES)
def test_outlines_have_unit_area_around_their_centre_of_mass(name: str) -> None:
    corners = outlines()[name]
    following = np.roll(corners, -1, axis=0)
    parts = (corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0])[:, None] / 2
    assert abs(parts.sum()) == pytest.approx(1)
    assert ((corners + following) / 3 * parts).sum(axis=0) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("shape", range(4))
@pytest.mark.parametrize("scale", [0.1, 0.3])
def test_area_and_place_are_those_asked_for(shape: int, scale: float) -> None:
    for angle, x, y in ((0.0, 0.5, 0.5), (0.7, 0.41, 0.63), (2.9, 0.6, 0.33)):
        picture = drawn(shape, scale, angle, x, y)
        assert picture.sum() == pytest.approx((scale * FRAME) ** 2, rel=0.08 if scale == 0.1 else 0.03)
        place = np.arange(FRAME) + 0.5
        assert picture.sum(axis=0) @ place / picture.sum() == pytest.approx(FRAME * x, abs=0.1)
        assert picture.sum(axis=1) @ place / picture.sum() == pytest.approx(FRAME * y, abs=0.1)


def test_a_square_is_itself_after_a_quarter_turn_and_a_triangle_after_a_third() -> None:
    assert np.abs(drawn(0, 0.4, 0.2) - drawn(0, 0.4, 0.2 + math.pi / 2)).max() < 0.2
    assert np.abs(drawn(1, 0.4, 0.2) - drawn(1, 0.4, 0.2 + 2 * math.pi / 3)).max() < 0.2
    assert np.abs(drawn(1, 0.4, 0.2) - drawn(1, 0.4, 0.2 + math.pi / 2)).sum() > 50


def test_edges_are_smooth_and_the_rest_is_black_or_white() -> None:
    picture = drawn(2, 0.4, 0.3)
    between = (picture > 0) & (picture < 1)
    assert 20 < between.sum() < 200
    assert picture[32, 32] == 1
    assert picture[0].sum() == 0


def test_sprites_are_cut_at_the_edge_and_may_be_outside() -> None:
    assert drawn(0, 0.5, 0.0, x=0.0).sum() == pytest.approx((0.5 * FRAME) ** 2 / 2, rel=0.03)
    assert drawn(0, 0.1, 0.0, x=2.0).sum() == 0


def test_shapes_differ_and_order_is_kept() -> None:
    shapes = np.array([3, 0, 2, 1, 0])
    pictures = draw_sprites(shapes, np.full(5, 0.4), np.zeros(5), np.full(5, 0.5), np.full(5, 0.5))
    for row, shape in enumerate(shapes):
        assert np.array_equal(pictures[row] / 255, drawn(int(shape), 0.4))
    assert len(np.unique(pictures, axis=0)) == 4


def test_no_drawing_library_is_loaded_before_something_is_drawn() -> None:
    code = "import sys, identica.sources; assert not {'PIL', 'pycocotools'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
