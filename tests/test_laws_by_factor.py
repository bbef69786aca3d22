from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Generator

from identica._checks import InputError
from identica.laws import (
    Conditional,
    GeneralizedNormal,
    Laplace,
    Law,
    Marginal,
    Normal,
    PerFactor,
    Uniform,
    parse_law,
    rounded,
)
from identica.spaces import Box, Real, Sphere

WIDTHS = (0.02, 0.1, 0.5)


@pytest.mark.parametrize(
    ("law", "oracle"),
    [
        (Laplace(WIDTHS), stats.laplace),
        (Normal(WIDTHS), stats.norm),
        (GeneralizedNormal(3, WIDTHS), stats.gennorm(3)),
        (PerFactor((Laplace(0.02), Laplace(0.1), Laplace(0.5))), stats.laplace),
    ],
)
def test_each_coordinate_has_its_own_width(law: Law, oracle: object, generator: Generator) -> None:
    centre = torch.zeros(4000, 3)
    drawn = Conditional(Real(3), law).sample(centre, generator).double().numpy()
    for column, width in zip(drawn.T, WIDTHS, strict=True):
        assert stats.kstest(column / width, oracle.cdf).pvalue > 1e-4  # type: ignore[attr-defined]


def test_in_a_box_redrawn_coordinates_keep_their_width(generator: Generator) -> None:
    box = Box(2)
    centre = torch.tensor([[0.0, 0.0]]).repeat(4000, 1)
    drawn = Conditional(box, Laplace((0.01, 0.2))).sample(centre, generator)
    box.check("drawn", drawn)
    # Half of the noise leaves the box at its corner, and what is drawn again is an exponential law of that width.
    assert float(drawn[:, 0].mean()) == pytest.approx(0.01, rel=0.1)
    assert 0.1 < float(drawn[:, 1].mean()) < 0.25


def test_different_laws_for_different_factors(generator: Generator) -> None:
    law = PerFactor((Normal(0.1), Laplace(0.1)))
    drawn = Conditional(Real(2), law).sample(torch.zeros(20_000, 2), generator)
    kurtosis = ((drawn / drawn.std(dim=0)) ** 4).mean(dim=0)
    assert float(kurtosis[0]) == pytest.approx(3, abs=0.3)
    assert float(kurtosis[1]) == pytest.approx(6, abs=1)
    assert torch.allclose(Conditional(Sphere(2), law).sample(torch.eye(2), generator).norm(dim=1), torch.ones(2))


def test_densities_are_products_over_coordinates() -> None:
    points, mean = torch.tensor([[0.1, 0.3]]), torch.tensor([[0.2, 0.5]])
    for space in (Real, Box):
        whole = Conditional(space(2), Laplace((0.05, 0.2))).log_prob(points, mean)
        parts = [
            Conditional(space(1), Laplace(width)).log_prob(points[:, [k]], mean[:, [k]])
            for k, width in enumerate((0.05, 0.2))
        ]
        assert torch.allclose(whole, parts[0] + parts[1])


@pytest.mark.parametrize(
    "law",
    [
        Laplace((0.02, 0.1)),
        Normal((0.5, 2.0)),
        GeneralizedNormal(3, (0.1, 0.2)),
        PerFactor((Laplace(0.1), Laplace(0.1), Normal(0.3))),
    ],
)
def test_what_prints_can_be_read(law: Law) -> None:
    assert parse_law(str(law)) == law


def test_a_range_has_equal_ratios() -> None:
    law = parse_law("laplace(scale=0.02:0.32)", 5)
    assert isinstance(law, Laplace)
    assert law.scale == pytest.approx((0.02, 0.04, 0.08, 0.16, 0.32))
    assert rounded(Laplace((0.123456, 1.0)), 2) == Laplace((0.12, 1.0))
    assert str(parse_law("2*laplace(scale=0.1); normal(sigma=1)")) == "2*laplace(scale=0.1); normal(sigma=1)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Marginal(Box(3), Laplace((0.1, 0.2))), "a scale for each of the 3 coordinates, got 2"),
        (lambda: Marginal(Box(3), PerFactor((Laplace(0.1),))), "a law for each of the 3 coordinates, got 1"),
        (lambda: Laplace((0.1, -1.0)), "each scale must be a finite number above 0, got -1.0"),
        (lambda: Laplace(()), "scale must hold at least one number"),
        (lambda: parse_law("laplace(scale=0.02:0.32)"), "a range a:b of known size"),
        (lambda: parse_law("gennorm(beta=[1, 2], scale=1)"), "beta in 'gennorm(beta=[1, 2], scale=1)' must be one"),
        (lambda: parse_law("2*uniform", 2), "must be laplace, normal or gennorm, got 'uniform'"),
        (lambda: PerFactor((Uniform(),)), "noise of one scale each, got uniform"),  # type: ignore[arg-type]
    ],
)
def test_bad_widths_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)


def test_one_width_draws_what_it_drew_before() -> None:
    first, second = (
        Conditional(Box(3), law).sample(torch.full((50, 3), 0.5), Generator().manual_seed(3))
        for law in (Laplace(0.2), Laplace((0.2,) * 3))
    )
    np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-6)
