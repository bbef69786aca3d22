from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gammaln

from identica._checks import InputError
from identica.laws import GeneralizedNormal, Laplace, Law, Marginal, Normal, Uniform, VonMisesFisher
from identica.spaces import Box, Real, Space, Sphere
from identica.theory import mass_to_move


@pytest.mark.parametrize("dim", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.01, 1.0, 10.0, 640.0])
def test_on_the_sphere_it_is_the_integral_over_the_polar_angle(dim: int, kappa: float) -> None:
    ring = math.log(2) + (dim - 1) / 2 * math.log(math.pi) - gammaln((dim - 1) / 2)
    uniform, normaliser = math.exp(ring - Sphere(dim).log_volume), VonMisesFisher(kappa).log_normaliser(dim)

    def difference(angle: float) -> float:
        density = math.exp(kappa * math.cos(angle) + ring - normaliser)
        return abs(density - uniform) * math.sin(angle) ** (dim - 2)

    edges = np.linspace(0, math.pi, 40)
    integral = sum(quad(difference, low, high, limit=200)[0] for low, high in itertools.pairwise(edges))
    assert mass_to_move(Marginal(Sphere(dim), VonMisesFisher(kappa))) == pytest.approx(integral / 2, rel=1e-6)


@pytest.mark.parametrize(
    "law",
    [Normal(0.1), Normal(2.0), Normal(1e-3), Laplace(0.2), GeneralizedNormal(3.0, 0.1), GeneralizedNormal(8.0, 0.05)],
)
def test_in_one_dimension_it_is_a_plain_integral(law: Law) -> None:
    marginal = Marginal(Box(1), law)

    def difference(point: float) -> float:
        return abs(float(marginal.log_prob(torch.tensor([[point]], dtype=torch.float64)).exp()) - 1)

    edges = np.unique(np.concatenate([np.linspace(0, 1, 20), np.linspace(0.49, 0.51, 20)]))
    integral = sum(quad(difference, low, high)[0] for low, high in itertools.pairwise(edges))
    assert mass_to_move(marginal) == pytest.approx(integral / 2, rel=1e-4)


@pytest.mark.parametrize("space", [Box(10), Box(3, (0.0, -1.0, 0.0), (1.0, 2.0, 1.0))])
def test_in_a_box_it_is_the_mean_over_draws(space: Box, generator: torch.Generator) -> None:
    marginal = Marginal(space, Normal(0.3))
    points = marginal.sample(200_000, generator).double()
    # ½∫|p - u| = ∫ p max(0, 1 - u/p)
    drawn = (1 - (-space.log_volume - marginal.log_prob(points)).exp()).clamp_min(0)
    error = float(drawn.std()) / math.sqrt(len(points))
    assert mass_to_move(marginal) == pytest.approx(float(drawn.mean()), abs=4 * error)


@settings(max_examples=25, deadline=None)
@given(st.floats(-6, 9), st.floats(0.1, 2))
def test_more_concentrated_is_farther_from_uniform(octave: float, step: float) -> None:
    def masses(concentration: float) -> list[float]:
        return [
            mass_to_move(Marginal(Sphere(5), VonMisesFisher(concentration))),
            mass_to_move(Marginal(Box(2), Normal(concentration**-0.5))),
        ]

    for less, more in zip(masses(2**octave), masses(2 ** (octave + step)), strict=True):
        assert 0 < less < more < 1


@pytest.mark.parametrize(
    ("marginal", "expected"),
    [
        (Marginal(Box(1), Normal(1e-10)), 1.0),
        (Marginal(Box(10), Normal(1e-10)), 1.0),
        (Marginal(Sphere(10), VonMisesFisher(1e7)), 1.0),
        (Marginal(Sphere(10), VonMisesFisher(1e-20)), 0.0),
        (Marginal(Sphere(1000), VonMisesFisher(1e-3)), 0.0),
    ],
)
def test_extreme_concentrations_have_their_limits(marginal: Marginal, expected: float) -> None:
    assert mass_to_move(marginal) == pytest.approx(expected, abs=1e-4)


def test_nothing_moves_for_the_uniform_law() -> None:
    assert mass_to_move(Marginal(Sphere(4), Uniform())) == 0
    assert mass_to_move(Marginal(Box(4), Uniform())) == 0


@pytest.mark.parametrize(("space", "law"), [(Sphere(3), Normal(1.0)), (Real(3), Normal(1.0))])
def test_other_marginals_are_named(space: Space, law: Law) -> None:
    with pytest.raises(InputError, match="marginal must be vmf on a sphere, or noise in a box, got normal"):
        mass_to_move(Marginal(space, law))
