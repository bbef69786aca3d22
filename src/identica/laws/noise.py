"""Laws that add independent noise to every coordinate."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.laws.base import Law
from identica.spaces import Box, Real, Space

__all__ = ["AdditiveNoise", "GeneralizedNormal", "Laplace", "Normal"]


class AdditiveNoise(Law):
    """A law that adds independent noise of one shape and scale to every coordinate."""

    scale: float

    @abstractmethod
    def standard(self, shape: tuple[int, ...], like: Tensor, generator: Generator) -> Tensor:
        """Noise at scale 1."""

    @abstractmethod
    def log_density(self, noise: Tensor) -> Tensor:
        """Log density of the noise at scale 1, per coordinate."""

    @abstractmethod
    def distribution(self, noise: Tensor) -> Tensor:
        """Distribution function of the noise at scale 1, per coordinate."""

    def check(self, space: Space) -> None:
        """Noise can be added on every space."""

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        """Draw one point around each row of `mean`, confined as the space says."""
        return space.confine(mean, lambda shape: self.scale * self.standard(shape, mean, generator))

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        """Log density; on a box, that of the noise truncated to it."""
        density = self.log_density((points - mean) / self.scale) - math.log(self.scale)
        if isinstance(space, Real):
            return density.sum(dim=1)
        if isinstance(space, Box):
            low, high = space.bounds(points)
            inside = (points >= low) & (points <= high)
            above, below = ((bound - mean) / self.scale for bound in (high, low))
            mass = self.distribution(above) - self.distribution(below)
            return torch.where(inside, density - mass.log(), -math.inf).sum(dim=1)
        raise InputError(f"{self} has no closed-form density on {space}: use a box or the unbounded space")


@final
@dataclass(frozen=True)
class Normal(AdditiveNoise):
    """p(x) ∝ exp(-x² / 2σ²) per coordinate: σ is the standard deviation."""

    sigma: float

    def __post_init__(self) -> None:
        _checks.positive("sigma", self.sigma)

    def __str__(self) -> str:
        return f"normal(sigma={self.sigma:g})"

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The standard deviation."""
        return self.sigma

    def standard(self, shape: tuple[int, ...], like: Tensor, generator: Generator) -> Tensor:
        return torch.randn(shape, generator=generator, device=like.device, dtype=like.dtype)

    def log_density(self, noise: Tensor) -> Tensor:
        return -0.5 * noise.square() - 0.5 * math.log(2 * math.pi)

    def distribution(self, noise: Tensor) -> Tensor:
        return torch.special.ndtr(noise)


@final
@dataclass(frozen=True)
class Laplace(AdditiveNoise):
    """p(x) ∝ exp(-|x| / λ) per coordinate: λ is the scale."""

    scale: float

    def __post_init__(self) -> None:
        _checks.positive("scale", self.scale)

    def __str__(self) -> str:
        return f"laplace(scale={self.scale:g})"

    def standard(self, shape: tuple[int, ...], like: Tensor, generator: Generator) -> Tensor:
        uniform = torch.rand(shape, generator=generator, device=like.device, dtype=like.dtype)
        # The smallest draw must not round to -1, where the logarithm is infinite.
        signed = 2 * uniform.clamp_min(torch.finfo(like.dtype).eps / 4) - 1
        return -signed.sign() * torch.log1p(-signed.abs())

    def log_density(self, noise: Tensor) -> Tensor:
        return -noise.abs() - math.log(2)

    def distribution(self, noise: Tensor) -> Tensor:
        return 0.5 - 0.5 * noise.sign() * torch.expm1(-noise.abs())


@final
@dataclass(frozen=True)
class GeneralizedNormal(AdditiveNoise):
    """p(x) ∝ exp(-(|x| / λ)^β) per coordinate. At β = 2 this is normal(σ = λ / √2), at β = 1 laplace(λ)."""

    beta: float
    scale: float

    def __post_init__(self) -> None:
        _checks.positive("beta", self.beta)
        _checks.positive("scale", self.scale)

    def __str__(self) -> str:
        return f"gennorm(beta={self.beta:g}, scale={self.scale:g})"

    def standard(self, shape: tuple[int, ...], like: Tensor, generator: Generator) -> Tensor:
        # |x|^β follows a gamma law of shape 1/β.
        shapes = torch.full(shape, 1 / self.beta, device=like.device, dtype=like.dtype)
        size = torch._standard_gamma(shapes, generator=generator).pow(1 / self.beta)
        sign = torch.rand(shape, generator=generator, device=like.device, dtype=like.dtype) - 0.5
        return torch.copysign(size, sign)

    def log_density(self, noise: Tensor) -> Tensor:
        return -noise.abs().pow(self.beta) - math.log(2) - math.lgamma(1 + 1 / self.beta)

    def distribution(self, noise: Tensor) -> Tensor:
        shape = torch.full_like(noise, 1 / self.beta)
        return 0.5 + 0.5 * noise.sign() * torch.special.gammainc(shape, noise.abs().pow(self.beta))
