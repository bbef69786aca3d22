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

__all__ = ["AdditiveNoise", "GeneralizedNormal", "Laplace", "Normal", "Width"]


Width = float | tuple[float, ...]
"""How wide the noise is: one number for all coordinates, or one for each."""


class AdditiveNoise(Law):
    """A law that adds independent noise of one shape to every coordinate; its scale may differ by coordinate."""

    scale: Width

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
        """Noise can be added on every space; with a scale for each coordinate there must be as many."""
        if isinstance(self.scale, tuple) and len(self.scale) != space.dim:
            raise InputError(f"{self} must have a scale for each of the {space.dim} coordinates, got {len(self.scale)}")

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        """Draw one point around each row of `mean`, confined as the space says."""
        return space.confine(mean, lambda shape, columns: self.noise(shape, columns, mean, generator))

    def noise(self, shape: tuple[int, ...], columns: Tensor | None, like: Tensor, generator: Generator) -> Tensor:
        """Noise of a shape that ends in the coordinates, or of a flat one whose coordinates `columns` tells."""
        scale: float | Tensor = self._scales(like) if isinstance(self.scale, tuple) else self.scale
        if isinstance(scale, Tensor) and columns is not None:
            scale = scale[columns]
        return scale * self.standard(shape, like, generator)

    def _scales(self, like: Tensor) -> Tensor:
        """The scale, or one for each coordinate."""
        return like.new_tensor(self.scale)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        """Log density; on a box, that of the noise truncated to it."""
        scale = self._scales(points)
        density = self.log_density((points - mean) / scale) - scale.log()
        if isinstance(space, Real):
            return density.sum(dim=1)
        if isinstance(space, Box):
            low, high = space.bounds(points)
            inside = (points >= low) & (points <= high)
            above, below = ((bound - mean) / scale for bound in (high, low))
            mass = self.distribution(above) - self.distribution(below)
            return torch.where(inside, density - mass.log(), -math.inf).sum(dim=1)
        raise InputError(f"{self} has no closed-form density on {space}: use a box or the unbounded space")


@final
@dataclass(frozen=True)
class Normal(AdditiveNoise):
    """p(x) ∝ exp(-x² / 2σ²) per coordinate: σ is the standard deviation."""

    sigma: Width

    def __post_init__(self) -> None:
        _checks.positive_each("sigma", self.sigma)

    def __str__(self) -> str:
        return f"normal(sigma={_written(self.sigma)})"

    @property
    def scale(self) -> Width:  # type: ignore[override]
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

    scale: Width

    def __post_init__(self) -> None:
        _checks.positive_each("scale", self.scale)

    def __str__(self) -> str:
        return f"laplace(scale={_written(self.scale)})"

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
    scale: Width

    def __post_init__(self) -> None:
        _checks.positive("beta", self.beta)
        _checks.positive_each("scale", self.scale)

    def __str__(self) -> str:
        return f"gennorm(beta={self.beta:g}, scale={_written(self.scale)})"

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


def _written(width: Width) -> str:
    """A width as a law prints it: a number, or a list of them."""
    return f"[{', '.join(f'{value:g}' for value in width)}]" if isinstance(width, tuple) else f"{width:g}"
