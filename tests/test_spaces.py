from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from identica._checks import InputError
from identica.spaces import Box, Product, Real, Space, Sphere, parse_space

SPACES: list[Space] = [
    Real(3),
    Sphere(4),
    Box(3),
    Box(2, (-1.0, 0.0), (1.0, 5.0)),
    Product((Sphere(3), Box(2), Real(1))),
]
BOUNDED = [Sphere(4), Box(3), Box(2, (-1.0, 0.0), (1.0, 5.0)), Product((Sphere(3), Box(2)))]


@pytest.mark.parametrize("space", SPACES, ids=str)
class TestContract:
    def test_projection_lands_inside_and_is_idempotent(self, space: Space, generator: torch.Generator) -> None:
        points = space.project(3 * torch.randn(100, space.dim, generator=generator))
        assert space.violation(points) is None
        assert torch.allclose(space.project(points), points, atol=1e-6)

    def test_confined_noise_stays_inside(self, space: Space, generator: torch.Generator) -> None:
        mean = space.project(torch.randn(200, space.dim, generator=generator))
        moved = space.confine(mean, lambda shape, _: 0.5 * torch.randn(shape, generator=generator))
        assert moved.shape == mean.shape
        assert space.violation(moved) is None
        assert not torch.equal(moved, mean)

    def test_centre_is_inside(self, space: Space) -> None:
        assert space.violation(space.centre()[None]) is None

    def test_nan_is_outside_with_a_reason(self, space: Space) -> None:
        points = space.centre().repeat(2, 1)
        points[1, 0] = math.nan
        assert space.inside(points).tolist() == [True, False]
        assert space.violation(points)

    def test_wrong_width_is_named(self, space: Space) -> None:
        with pytest.raises(InputError, match=rf"points must have shape \[count, {space.dim}\], got \[2, 9\]"):
            space.check("points", torch.zeros(2, 9))


@pytest.mark.parametrize("space", BOUNDED, ids=str)
def test_uniform_samples_are_inside(space: Space, generator: torch.Generator) -> None:
    assert space.violation(space.uniform(500, generator)) is None


def test_volumes() -> None:
    assert Sphere(2).log_volume == pytest.approx(math.log(2 * math.pi))
    assert Sphere(3).log_volume == pytest.approx(math.log(4 * math.pi))
    assert Box(2, (-1.0, 0.0), (1.0, 5.0)).log_volume == pytest.approx(math.log(10))
    assert Product((Sphere(2), Box(1, 0.0, 2.0))).log_volume == pytest.approx(math.log(4 * math.pi))
    assert Real(3).log_volume == math.inf


@settings(deadline=None, max_examples=30)
@given(
    low=st.floats(-5, 5),
    width=st.floats(0.1, 10),
    scale=st.floats(0.01, 3),
    seed=st.integers(0, 2**31),
    n=st.integers(1, 6),
)
def test_box_confinement_holds_for_any_bounds(low: float, width: float, scale: float, seed: int, n: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    box = Box(n, low, low + width)
    mean = box.uniform(20, generator)
    moved = box.confine(box.project(mean), lambda shape, _: scale * torch.randn(shape, generator=generator))
    assert box.violation(moved) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(0), "dim must be a whole number of at least 1, got 0"),
        (lambda: Box(2, 1.0, 0.0), "low must be below high and both finite, got low 1, high 0"),
        (lambda: Box(2, (0.0, 0.0, 0.0), 1.0), "low must have 2 entries, one for each coordinate, got 3"),
        (lambda: Sphere(1), "dim must be at least 2 for a sphere, got 1"),
        (lambda: Product(()), "parts must hold at least one space, got none"),
        (
            lambda: parse_space("spere", 3),
            "unknown space 'spere': did you mean 'sphere'? allowed: sphere, box, unbounded",
        ),
        (lambda: Real(2).uniform(1, torch.Generator()), "no uniform law"),
    ],
)
def test_bad_spaces_are_refused_in_one_line(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
