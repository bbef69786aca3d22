from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import ive

from identica import laws, spaces
from identica._checks import InputError
from identica.laws import (
    Conditional,
    GeneralizedNormal,
    Laplace,
    Law,
    Marginal,
    Normal,
    Uniform,
    VonMisesFisher,
    parse_law,
)
from identica.spaces import Box, Real, Space, Sphere

SCIPY = [
    (Normal(0.3), stats.norm(scale=0.3)),
    (Laplace(0.3), stats.laplace(scale=0.3)),
    (GeneralizedNormal(3, 0.3), stats.gennorm(3, scale=0.3)),
    (GeneralizedNormal(1.5, 0.3), stats.gennorm(1.5, scale=0.3)),
    (GeneralizedNormal(2, 0.3), stats.norm(scale=0.3 / math.sqrt(2))),
    (GeneralizedNormal(1, 0.3), stats.laplace(scale=0.3)),
]


@pytest.mark.parametrize("dim", [3, 10, 50])
@pytest.mark.parametrize("kappa", [1.0, 10.0, 100.0])
def test_vmf_has_the_mean_resultant_length_of_its_closed_form(dim: int, kappa: float) -> None:
    generator = torch.Generator().manual_seed(dim + int(kappa))
    mean = Sphere(dim).uniform(100_000, generator)
    cosines = (VonMisesFisher(kappa).sample(Sphere(dim), mean, generator) * mean).sum(dim=1).double()
    expected = ive(dim / 2, kappa) / ive(dim / 2 - 1, kappa)
    error = cosines.std() / math.sqrt(len(cosines))
    assert abs(float(cosines.mean()) - expected) < 4 * float(error)


@pytest.mark.parametrize(("dim", "kappa"), [(3, 5.0), (10, 1.0), (10, 100.0)])
def test_vmf_matches_scipy(dim: int, kappa: float, generator: torch.Generator) -> None:
    mean = Sphere(dim).centre().expand(4000, -1)
    ours = VonMisesFisher(kappa).sample(Sphere(dim), mean, generator).double().numpy()
    law = stats.vonmises_fisher(np.eye(dim)[0], kappa)
    theirs = law.rvs(4000, random_state=0)
    for coordinate in (0, 1, dim - 1):
        assert stats.ks_2samp(ours[:, coordinate], theirs[:, coordinate]).pvalue > 1e-4
    log_prob = VonMisesFisher(kappa).log_prob(Sphere(dim), torch.tensor(ours), mean.double())
    normalised = ours / np.linalg.norm(ours, axis=1, keepdims=True)
    np.testing.assert_allclose(log_prob.numpy(), law.logpdf(normalised), atol=1e-4)


def test_vmf_follows_each_mean_and_stays_on_the_sphere(generator: torch.Generator) -> None:
    sphere = Sphere(10)
    mean = sphere.uniform(2000, generator)
    drawn = Conditional(sphere, VonMisesFisher(1e4)).sample(mean, generator)
    assert sphere.violation(drawn) is None
    assert float((drawn * mean).sum(dim=1).min()) > 0.99


@pytest.mark.parametrize(("law", "reference"), SCIPY, ids=lambda value: str(value)[:30])
def test_noise_passes_kolmogorov_smirnov(law: Law, reference: stats.rv_continuous) -> None:
    generator = torch.Generator().manual_seed(1)
    drawn = Conditional(Real(2), law).sample(torch.zeros(20_000, 2), generator).double().numpy().ravel()
    assert stats.kstest(drawn, reference.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("law", "reference"), SCIPY, ids=lambda value: str(value)[:30])
def test_noise_truncated_to_a_box_passes_kolmogorov_smirnov(law: Law, reference: stats.rv_continuous) -> None:
    generator = torch.Generator().manual_seed(2)
    mean, low, high = 0.1, 0.0, 0.6
    drawn = (
        Conditional(Box(1, low, high), law).sample(torch.full((20_000, 1), mean), generator).double().numpy().ravel()
    )
    below, mass = reference.cdf(low - mean), reference.cdf(high - mean) - reference.cdf(low - mean)
    assert stats.kstest(drawn, lambda x: (reference.cdf(x - mean) - below) / mass).pvalue > 1e-3


@pytest.mark.parametrize(("law", "reference"), SCIPY, ids=lambda value: str(value)[:30])
def test_log_prob_agrees_with_scipy(law: Law, reference: stats.rv_continuous, generator: torch.Generator) -> None:
    points = torch.randn(50, 3, generator=generator, dtype=torch.float64)
    ours = Conditional(Real(3), law).log_prob(points, torch.zeros_like(points))
    np.testing.assert_allclose(ours.numpy(), reference.logpdf(points.numpy()).sum(axis=1), rtol=1e-9)


ON_A_GRID = [Uniform(), Normal(0.2), Laplace(0.2), GeneralizedNormal(3, 0.2), GeneralizedNormal(1.3, 0.2)]


@pytest.mark.parametrize("law", ON_A_GRID, ids=str)
def test_truncated_density_integrates_to_one(law: Law) -> None:
    box = Box(1, -0.5, 1.5)
    edges = torch.linspace(-0.5, 1.5, 20_001, dtype=torch.float64)
    middle = ((edges[1:] + edges[:-1]) / 2)[:, None]
    density = Conditional(box, law).log_prob(middle, torch.full_like(middle, 0.3)).exp()
    assert float(density.sum() * (edges[1] - edges[0])) == pytest.approx(1, abs=1e-5)
    outside = torch.tensor([[2.0]], dtype=torch.float64)
    assert Conditional(box, law).log_prob(outside, torch.full_like(outside, 0.3)).item() == -math.inf


EVERYWHERE: list[tuple[Space, Law]] = [
    (Sphere(5), Uniform()),
    (Sphere(5), VonMisesFisher(3)),
    (Sphere(5), Laplace(0.1)),
    (Box(5), Uniform()),
    (Box(5, -1.0, 1.0), GeneralizedNormal(3, 0.4)),
    (Real(5), Normal(1.0)),
    (spaces.Product((Sphere(3), Box(2))), laws.ProductLaw((VonMisesFisher(2), Laplace(0.1)))),
]


@pytest.mark.parametrize(("space", "law"), EVERYWHERE, ids=str)
class TestContract:
    def test_samples_have_shape_and_support(self, space: Space, law: Law, generator: torch.Generator) -> None:
        first = Marginal(space, law).sample(300, generator)
        second = Conditional(space, law).sample(first, generator)
        assert first.shape == second.shape == (300, space.dim)
        assert space.violation(first) is None
        assert space.violation(second) is None

    def test_the_same_seed_draws_the_same(self, space: Space, law: Law) -> None:
        one, two = (Marginal(space, law).sample(50, torch.Generator().manual_seed(3)) for _ in range(2))
        assert torch.equal(one, two)


def test_marginals_are_centred_on_the_space(generator: torch.Generator) -> None:
    assert Marginal(Box(2), Normal(0.1)).sample(5000, generator).mean(dim=0).tolist() == pytest.approx(
        [0.5, 0.5], abs=0.01
    )
    assert float(Marginal(Sphere(3), VonMisesFisher(50)).sample(1000, generator)[:, 0].mean()) > 0.9


def test_laplace_noise_is_always_finite() -> None:
    drawn = Laplace(1.0).standard((5_000_000,), torch.zeros(1), torch.Generator().manual_seed(0))
    assert torch.isfinite(drawn).all()


@pytest.mark.parametrize(
    "text", ["uniform", "vmf(kappa=1)", "normal(sigma=0.05)", "laplace(scale=0.05)", "gennorm(beta=3, scale=0.05)"]
)
def test_laws_read_as_they_print(text: str) -> None:
    assert str(parse_law(text)) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Laplace(-1), "scale must be a finite number above 0, got -1"),
        (lambda: VonMisesFisher(0), "kappa must be a finite number above 0, got 0"),
        (lambda: Normal(math.nan), "sigma must be a finite number above 0, got nan"),
        (lambda: Conditional(Box(3), VonMisesFisher(1)), "vmf(kappa=1) lives on a sphere, got the box [0, 1]^3"),
        (lambda: Marginal(Real(3), Uniform()), "needs a bounded space (sphere or box), got R^3"),
        (
            lambda: Conditional(Box(3), Laplace(1)).sample(torch.zeros(4, 2), torch.Generator()),
            "given must have shape [count, 3], got [4, 2]",
        ),
        (
            lambda: Conditional(Box(1), Laplace(1)).sample(torch.full((1, 1), 7.0), torch.Generator()),
            "mean must lie in the box [0, 1]^1",
        ),
        (
            lambda: Conditional(Sphere(3), Normal(1)).log_prob(torch.ones(1, 3), torch.ones(1, 3)),
            "no closed-form density",
        ),
        (lambda: laws.ProductLaw((Laplace(1),)).check(Box(2)), "a product of 1 laws needs a product of as many spaces"),
        (lambda: parse_law("lapace(scale=1)"), "unknown law 'lapace': did you mean 'laplace'?"),
        (lambda: parse_law("laplace(sigma=1)"), "unknown parameter of laplace 'sigma'"),
        (lambda: parse_law("laplace(scale=x)"), "scale in 'laplace(scale=x)' must be a number, got 'x'"),
        (lambda: parse_law("laplace"), "the law 'laplace' lacks scale"),
        (lambda: parse_law("laplace(scale"), "cannot read the law"),
    ],
)
def test_bad_laws_are_refused_in_one_line(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_normaliser_of_a_wide_law_in_many_dimensions_is_nearly_the_area() -> None:
    # log E exp(κt) = κ²/2N + O(κ⁴/N³), where the Bessel function itself underflows
    for kappa, dim in ((1.0, 1000), (1e-8, 100), (5.0, 2000)):
        excess = VonMisesFisher(kappa).log_normaliser(dim) - Sphere(dim).log_volume
        assert excess == pytest.approx(kappa**2 / (2 * dim), rel=1e-2, abs=1e-9)
