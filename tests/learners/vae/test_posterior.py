from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Laplace, Normal, kl_divergence

from identica.learners.vae import Posterior, laplace_divergence, normal_divergence, shared_posterior


def posterior(count: int, dim: int, generator: torch.Generator) -> Posterior:
    mean, logs = (torch.randn(count, dim, generator=generator, dtype=torch.float64) for _ in range(2))
    return Posterior(2 * mean, logs)


def as_normal(one: Posterior) -> Normal:
    return Normal(one.mean, (one.log_variance / 2).exp())


def test_the_divergence_of_normal_laws_is_that_of_torch(generator: torch.Generator) -> None:
    one, two = posterior(6, 4, generator), posterior(6, 4, generator)
    standard = Normal(torch.zeros(()), torch.ones(()))
    assert torch.allclose(normal_divergence(one), kl_divergence(as_normal(one), standard))
    assert torch.allclose(normal_divergence(one, two), kl_divergence(as_normal(one), as_normal(two)))


@pytest.mark.parametrize("rate", [0.5, 6.0])
def test_the_divergence_from_a_laplace_law_is_that_of_an_integral(rate: float, generator: torch.Generator) -> None:
    one = posterior(5, 1, generator)
    centre = Posterior(torch.randn(5, 1, generator=generator, dtype=torch.float64), torch.full((5, 1), -math.inf))
    law, prior = as_normal(one), Laplace(centre.mean, 1 / rate)
    grid = torch.linspace(-40, 40, 400_001, dtype=torch.float64)
    density = law.log_prob(grid)
    expected = torch.trapezoid(density.exp() * (density - prior.log_prob(grid)), grid, dim=1)
    assert torch.allclose(laplace_divergence(one, centre, rate)[:, 0], expected, atol=1e-6)


def test_an_uncertain_centre_is_averaged_over(generator: torch.Generator) -> None:
    one, centre = posterior(4, 2, generator), posterior(4, 2, generator)
    draws = as_normal(centre).mean + (centre.log_variance / 2).exp() * torch.randn(
        200_000, 4, 2, generator=generator, dtype=torch.float64
    )
    known = laplace_divergence(one, Posterior(draws, torch.full_like(draws, -math.inf)), 3.0)
    error = known.std(dim=0) / math.sqrt(len(draws))
    assert ((laplace_divergence(one, centre, 3.0) - known.mean(dim=0)).abs() < 5 * error).all()


def test_gradients_stay_finite_where_partners_agree() -> None:
    mean = torch.zeros(3, 2, requires_grad=True)
    one = Posterior(mean, torch.full((3, 2), -30.0))
    laplace_divergence(one, Posterior(mean.detach(), one.log_variance), 6.0).sum().backward()
    assert mean.grad is not None
    assert torch.isfinite(mean.grad).all()


def halves(values: list[list[float]]) -> Tensor:
    return torch.tensor(values)


def test_alike_coordinates_are_averaged_and_others_left() -> None:
    # One pair. Divergences: 0.125, 8, 0.02 (at equal variances, half the squared difference).
    mean = halves([[0.0, 0.0, 1.0], [0.5, 4.0, 1.2]])
    found = shared_posterior(Posterior(mean, torch.zeros(2, 3)))
    assert torch.allclose(found.mean, halves([[0.25, 0.0, 1.1], [0.25, 4.0, 1.1]]))
    assert torch.allclose(found.log_variance, torch.zeros(2, 3))


def test_variances_are_averaged_not_their_logarithms() -> None:
    logs = halves([[0.0, 0.0], [math.log(3.0), 0.0]])
    mean = halves([[0.0, 0.0], [0.0, 9.0]])
    found = shared_posterior(Posterior(mean, logs))
    assert torch.allclose(found.log_variance[:, 0], torch.full((2,), math.log(2.0)))
    assert torch.equal(found.mean[:, 1], mean[:, 1])


def test_each_pair_has_a_threshold_of_its_own() -> None:
    mean = halves([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [20.0, 10.0]])
    found = shared_posterior(Posterior(mean, torch.zeros(4, 2)))
    assert torch.equal(found.mean, halves([[0.5, 0.0], [0.0, 5.0], [0.5, 2.0], [20.0, 5.0]]))
