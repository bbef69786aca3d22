"""Normal posteriors of codes, and their divergences in closed form."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Posterior", "laplace_divergence", "normal_divergence", "shared_posterior"]


class Posterior(NamedTuple):
    """q(z | x) = N(mean, variance), one coordinate by itself; both [count, dim].

    Attributes:
        mean: μ.
        log_variance: log σ².
    """

    mean: Tensor
    log_variance: Tensor

    def draw(self, noise: Tensor) -> Tensor:
        """μ + σ · noise, for standard normal noise."""
        return self.mean + (self.log_variance / 2).exp() * noise

    def halves(self) -> tuple[Posterior, Posterior]:
        """Posteriors of the first and of the second halves of pairs."""
        means, logs = self.mean.chunk(2), self.log_variance.chunk(2)
        return Posterior(means[0], logs[0]), Posterior(means[1], logs[1])


def normal_divergence(posterior: Posterior, prior: Posterior | None = None) -> Tensor:
    """KL(N(μ, σ²) ‖ N(m, s²)) = ½ ((μ - m)² / s² + σ² / s² - 1 - log σ² / s²) of each coordinate, [count, dim].

    Args:
        posterior: μ and log σ².
        prior: m and log s²; the standard normal law if not given.
    """
    mean, log_ratio, precision = posterior.mean, posterior.log_variance, 1.0 if prior is None else torch.exp(-prior[1])
    if prior is not None:
        mean, log_ratio = mean - prior.mean, log_ratio - prior.log_variance
    return 0.5 * (mean.square() * precision + log_ratio.exp() - 1 - log_ratio)


def laplace_divergence(posterior: Posterior, centre: Posterior, rate: float) -> Tensor:
    """E_c KL(N(μ, σ²) ‖ Laplace(c, 1/λ)) = λ E|z - c| - log(λ/2) - ½ log(2πe σ²) of each coordinate, [count, dim].

    The centre is uncertain too: c is N(m, s²), so that z - c is N(δ, v) with δ = μ - m and v = σ² + s², and
    E|z - c| = √(2v/π) exp(-δ²/2v) + δ erf(δ/√(2v)).

    Args:
        posterior: μ and log σ².
        centre: m and log s²; a log s² of -∞ puts c at m.
        rate: λ.
    """
    difference = posterior.mean - centre.mean
    twice = 2 * (posterior.log_variance.exp() + centre.log_variance.exp())
    # By the derivative of erf: the whole is the mean absolute value of a normal variable.
    distance = (twice / math.pi).sqrt() * torch.exp(-difference.square() / twice)
    distance = distance + difference * torch.erf(difference / twice.sqrt())
    entropy = 0.5 * (posterior.log_variance + math.log(2 * math.pi * math.e))
    return rate * distance - math.log(rate / 2) - entropy


def shared_posterior(posterior: Posterior) -> Posterior:
    """Posteriors of pairs whose coordinates that look alike are made one, by averaging means and variances.

    Of one pair, those coordinates are alike whose KL(q(z_k | x) ‖ q(z_k | x~)) is below the middle between the least
    and the largest of the pair.
    """
    first, second = posterior.halves()
    with torch.no_grad():
        apart = normal_divergence(first, second)
        low, high = apart.aminmax(dim=1, keepdim=True)
        alike = apart < (low + high) / 2
    mean = (first.mean + second.mean) / 2
    log_variance = torch.logaddexp(first.log_variance, second.log_variance) - math.log(2)
    made = [
        (torch.where(alike, mean, one.mean), torch.where(alike, log_variance, one.log_variance))
        for one in (first, second)
    ]
    return Posterior(torch.cat([one[0] for one in made]), torch.cat([one[1] for one in made]))
