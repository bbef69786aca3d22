"""The law of directions around a mean direction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.laws.base import Law
from identica.spaces import Space, Sphere

__all__ = ["VonMisesFisher"]

_SERIES_TERMS = 10_000


@final
@dataclass(frozen=True)
class VonMisesFisher(Law):
    """p(z | μ) ∝ exp(κ μᵀz) on the unit sphere."""

    kappa: float

    def __post_init__(self) -> None:
        _checks.positive("kappa", self.kappa)

    def __str__(self) -> str:
        return f"vmf(kappa={self.kappa:g})"

    def check(self, space: Space) -> None:
        if not isinstance(space, Sphere):
            raise InputError(f"vmf(kappa={self.kappa:g}) lives on a sphere, got {space}")

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        along = self._cosines(mean, generator)[:, None]
        across = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
        across = across - (across * mean).sum(dim=1, keepdim=True) * mean
        across = torch.nn.functional.normalize(across, dim=1)
        # The last projection only removes the rounding of the sum.
        return space.project(along * mean + (1 - along.square()).clamp_min(0).sqrt() * across)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        return self.kappa * (points * mean).sum(dim=1) - self.log_normaliser(space.dim)

    def log_normaliser(self, dim: int) -> float:
        """Log of ∫ exp(κ μᵀz) dz over the sphere: (2π)^{N/2} I_{N/2-1}(κ) / κ^{N/2-1}."""
        from scipy.special import gammaln, ive, logsumexp

        order = dim / 2 - 1
        bessel = float(ive(order, self.kappa))
        if bessel > 0:
            log_power = math.log(bessel) + self.kappa - order * math.log(self.kappa)
        else:  # too small to be told from 0: I_v(κ) / κ^v = 2^-v / Γ(v + 1) · Σ_k (κ²/4)^k / (k! (v + 1)_k)
            k = np.arange(_SERIES_TERMS)
            terms = 2 * k * math.log(self.kappa / 2) - gammaln(k + 1) - gammaln(order + 1 + k)
            log_power = float(logsumexp(terms)) - order * math.log(2)
        return dim / 2 * math.log(2 * math.pi) + log_power

    def _cosines(self, mean: Tensor, generator: Generator) -> Tensor:
        """Draw μᵀz by Wood's (1994) rejection scheme. Its law is the same for all means, so rounds are in bulk."""
        count, dim = mean.shape
        rest = dim - 1
        # (sqrt(4κ² + rest²) - 2κ) / rest, written so that large κ does not cancel.
        b = rest / (math.hypot(2 * self.kappa, rest) + 2 * self.kappa)
        x0 = (1 - b) / (1 + b)
        peak = self.kappa * x0 + rest * (math.log(4 * b) - 2 * math.log1p(b))  # 1 - x0² = 4b / (1 + b)²
        accepted = mean.new_empty(0)
        while accepted.numel() < count:
            wanted = int((count - accepted.numel()) * 1.5) + 16
            shape = torch.full((2, wanted), rest / 2, device=mean.device, dtype=mean.dtype)
            first, second = torch._standard_gamma(shape, generator=generator)
            beta = first / (first + second)
            cosine = (1 - (1 + b) * beta) / (1 - (1 - b) * beta)
            uniform = torch.rand(wanted, generator=generator, device=mean.device, dtype=mean.dtype)
            keep = self.kappa * cosine + rest * torch.log1p(-x0 * cosine) - peak >= uniform.log()
            accepted = torch.cat([accepted, cosine[keep]])
        return accepted[:count]
