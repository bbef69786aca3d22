from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from identica._checks import InputError
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.processes import LeakyReLUMixing, SyntheticProcess
from identica.spaces import Box, Sphere


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**31), dim=st.integers(1, 8), extra=st.integers(0, 5), layers=st.integers(1, 4))
def test_inverse_undoes_the_mixing(seed: int, dim: int, extra: int, layers: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    mixing = LeakyReLUMixing.draw(dim, dim + extra, generator=generator, layers=layers, draws=200).double()
    latents = torch.randn(50, dim, generator=generator, dtype=torch.float64)
    observations = mixing(latents)
    assert observations.shape == (50, dim + extra)
    assert torch.allclose(mixing.inverse(observations), latents, atol=1e-8)


def test_layers_are_normalised_and_better_conditioned_than_all_of_25_000_draws() -> None:
    mixing = LeakyReLUMixing.draw(10, generator=torch.Generator().manual_seed(0))
    fresh = torch.Generator().manual_seed(99)
    others = 2 * torch.rand(20_000, 10, 10, generator=fresh) - 1
    typical = torch.linalg.cond(others / others.norm(dim=1, keepdim=True)).quantile(0.001)
    assert len(mixing.weights) == 3
    for weight in mixing.weights:
        assert torch.allclose(weight.norm(dim=0), torch.ones(10), atol=1e-5)
        assert torch.linalg.cond(weight) < typical


def test_the_same_seed_draws_the_same_mixing() -> None:
    one, two = (LeakyReLUMixing.draw(4, generator=torch.Generator().manual_seed(5), draws=50) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))


def test_pairs_are_mixtures_of_related_latents(generator: torch.Generator) -> None:
    box = Box(4)
    mixing = LeakyReLUMixing.draw(4, 6, generator=generator, draws=100)
    process = SyntheticProcess(Marginal(box, Uniform()), Conditional(box, Laplace(0.05)), mixing)
    anchors, positives = (mixing.inverse(x) for x in process.pairs(500, generator))
    assert anchors.shape == (500, 4)
    assert float((anchors - positives).abs().mean()) == pytest.approx(0.05, abs=0.01)


def test_bad_processes_are_refused(generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="observed must be at least dim = 4 for an invertible mixing, got 3"):
        LeakyReLUMixing.draw(4, 3, generator=generator)
    mixing = LeakyReLUMixing.draw(4, generator=generator, draws=10)
    with pytest.raises(InputError, match="must share one space"):
        SyntheticProcess(Marginal(Box(4), Uniform()), Conditional(Sphere(4), Laplace(0.1)), mixing)
    with pytest.raises(InputError, match="mixing must take 5 latents, got one for 4"):
        SyntheticProcess(Marginal(Box(5), Uniform()), Conditional(Box(5), Laplace(0.1)), mixing)
