"""How latents are distributed, and how the two latents of a positive pair are related.

A law holds parameters and knows its noise; a space knows how noise is confined. `Marginal(space, law)` draws
latents, `Conditional(space, law)` draws the partner of each latent.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import final

import numpy as np
import torch
from torch import Generator, Tensor

from identica import _checks, spaces
from identica._checks import InputError
from identica.spaces import Box, Real, Space, Sphere

__all__ = [
    "Conditional",
    "GeneralizedNormal",
    "Laplace",
    "Law",
    "Marginal",
    "Normal",
    "Product",
    "Uniform",
    "VonMisesFisher",
    "parse_law",
]


_SERIES_TERMS = 10_000


class Law(ABC):
    """A family of densities with fixed parameters, on a space and around a mean given at each call."""

    @abstractmethod
    def check(self, space: Space) -> None:
        """Raise if the law does not exist on `space`."""

    @abstractmethod
    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        """Draw one point around each row of `mean`."""

    @abstractmethod
    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        """Log density of each row of `points` around the row of `mean`; raises if it has no closed form."""


@final
@dataclass(frozen=True)
class Uniform(Law):
    """p(z) = 1 / |Z|, wherever the mean is."""

    def __str__(self) -> str:
        return "uniform"

    def check(self, space: Space) -> None:
        if math.isinf(space.log_volume):
            raise InputError(f"the uniform law needs a bounded space (sphere or box), got {space}")

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        return space.uniform(mean.shape[0], generator)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        return torch.where(space.inside(points), -space.log_volume, -math.inf).to(points.dtype)


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


@final
@dataclass(frozen=True)
class Product(Law):
    """Independent laws on the parts of a product space, in order."""

    parts: tuple[Law, ...]

    def __str__(self) -> str:
        return " × ".join(str(part) for part in self.parts)

    def check(self, space: Space) -> None:
        for part, where in zip(self.parts, self._parts(space).parts, strict=True):
            part.check(where)

    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        whole = self._parts(space)
        pieces = zip(self.parts, whole.parts, whole.split(mean), strict=True)
        return torch.cat([law.sample(where, piece, generator) for law, where, piece in pieces], dim=1)

    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        whole = self._parts(space)
        pieces = zip(self.parts, whole.parts, whole.split(points), whole.split(mean), strict=True)
        return torch.stack([law.log_prob(where, point, centre) for law, where, point, centre in pieces]).sum(dim=0)

    def _parts(self, space: Space) -> spaces.Product:
        if not isinstance(space, spaces.Product) or len(space.parts) != len(self.parts):
            raise InputError(f"a product of {len(self.parts)} laws needs a product of as many spaces, got {space}")
        return space


@final
@dataclass(frozen=True)
class Marginal:
    """p(z): a law around the centre of a space.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> Marginal(Sphere(3), Uniform()).sample(5, generator).shape
        torch.Size([5, 3])
    """

    space: Space
    law: Law

    def __post_init__(self) -> None:
        self.law.check(self.space)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw `count` latents on the generator's device."""
        mean = self.space.centre().to(generator.device).expand(count, -1)
        return self.law.sample(self.space, mean, generator)

    def log_prob(self, points: Tensor) -> Tensor:
        """Log density of each row."""
        _checks.columns("points", points, self.space.dim)
        return self.law.log_prob(self.space, points, self.space.centre().to(points).expand_as(points))


@final
@dataclass(frozen=True)
class Conditional:
    """p(z~ | z): a law around each given latent.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> latents = Marginal(Box(2), Uniform()).sample(4, generator)
        >>> Conditional(Box(2), Laplace(0.05)).sample(latents, generator).shape
        torch.Size([4, 2])
    """

    space: Space
    law: Law

    def __post_init__(self) -> None:
        self.law.check(self.space)

    def sample(self, given: Tensor, generator: Generator) -> Tensor:
        """Draw the partner of each row of `given`."""
        _checks.columns("given", given, self.space.dim)
        return self.law.sample(self.space, given, generator)

    def log_prob(self, points: Tensor, given: Tensor) -> Tensor:
        """Log density of each row of `points` given the row of `given`."""
        _checks.columns("points", points, self.space.dim)
        _checks.columns("given", given, self.space.dim)
        return self.law.log_prob(self.space, points, given)


_LAWS: dict[str, type[Law]] = {
    "uniform": Uniform,
    "vmf": VonMisesFisher,
    "normal": Normal,
    "laplace": Laplace,
    "gennorm": GeneralizedNormal,
}


def parse_law(text: str) -> Law:
    """Read a law as it prints: `uniform`, `vmf(kappa=1)`, `normal(sigma=0.05)`, `gennorm(beta=3, scale=0.05)`."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise InputError(f"cannot read the law {text!r}: write it like 'laplace(scale=0.05)'")
    name, inside = match.groups()
    law = _LAWS[_checks.choice("law", name, _LAWS)]
    allowed = [field.name for field in fields(law)]  # type: ignore[arg-type]
    values: dict[str, float] = {}
    for item in filter(None, (piece.strip() for piece in (inside or "").split(","))):
        key, _, number = item.partition("=")
        _checks.choice(f"parameter of {name}", key.strip(), allowed)
        try:
            values[key.strip()] = float(number)
        except ValueError:
            raise InputError(f"{key.strip()} in {text!r} must be a number, got {number!r}") from None
    missing = [key for key in allowed if key not in values]
    if missing:
        raise InputError(f"the law {text!r} lacks {', '.join(missing)}")
    return law(**values)
