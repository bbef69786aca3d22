"""Theorems 1 and 3: with ever more negatives InfoNCE becomes a cross-entropy.

L - log M + log |Z| → E_z H(p(·|z), q_h(·|z)), with q_h(z~|z) = exp φ(h(z), h(z~)) / C_h(z) and
C_h(z) = ∫ exp φ(h(z), h(z')) dz'. The left side is measured with known latents and M negatives, the right side by a
closed form or quadrature of C_h, on the same pairs: what is left of their difference is the work of the negatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica.laws import Conditional, Laplace, Law, Marginal, Normal, Uniform, VonMisesFisher
from identica.similarities import DotProduct, PowerDistance, Similarity, log_sums
from identica.spaces import Box, Space, Sphere

__all__ = ["CASES", "TOO_NARROW", "Case", "Limit", "measure_limit"]

_QUADRATURE_POINTS = 2001
_CHUNK = 1 << 16
_95_PERCENT = 1.96

Map = Callable[[Tensor], Tensor]


@final
@dataclass(frozen=True)
class Case:
    """A process with known latents, and a map h in the place of a trained encoder.

    Args:
        name: What it shows.
        space: Z.
        conditional: p(z~ | z).
        similarity: φ.
        encode: h, with the scale that φ has no parameter for.
        log_normaliser: log C_h(z) of each row.
    """

    name: str
    space: Space
    conditional: Law
    similarity: Similarity
    encode: Map
    log_normaliser: Map


@final
@dataclass(frozen=True)
class Limit:
    """The normalised loss against the cross-entropy.

    Args:
        case: The name of the case.
        cross_entropy: The right side, in nats.
        negatives: M.
        gaps: Left side less right side for each M, in nats.
        bands: Half the width of the 95 % confidence band of each.
    """

    case: str
    cross_entropy: float
    negatives: tuple[int, ...]
    gaps: tuple[float, ...]
    bands: tuple[float, ...]

    def summary(self) -> dict[str, Any]:
        """As plain data, with the gap at the largest M by itself."""
        return {
            "case": self.case,
            "gap": round(self.gaps[-1], 5),
            "cross_entropy": round(self.cross_entropy, 5),
            "negatives": list(self.negatives),
            "gaps": [round(gap, 5) for gap in self.gaps],
            "bands": [round(band, 5) for band in self.bands],
        }


def measure_limit(case: Case, negatives: Sequence[int], *, anchors: int = 512, seed: int = 0) -> Limit:
    """The gap between InfoNCE and the cross-entropy for each number of negatives.

    Args:
        case: The process and the map.
        negatives: Numbers M, in any order; the smaller sets are parts of the largest.
        anchors: How many pairs.
        seed: Of all draws.
    """
    sizes = sorted(_checks.at_least_one("negatives", size) for size in negatives)
    _checks.at_least_one("anchors", anchors)
    _checks.seed("seed", seed)
    generator = Generator().manual_seed(seed)
    marginal, conditional = Marginal(case.space, Uniform()), Conditional(case.space, case.conditional)
    latents = marginal.sample(anchors, generator).double()
    partners = conditional.sample(latents.float(), generator).double()
    first, second = case.encode(latents), case.encode(partners)
    aligned = case.similarity.paired(first, second)
    log_normaliser = case.log_normaliser(latents)
    gaps, bands = [], []
    total, drawn = aligned.clone(), 0
    for size in sizes:
        while drawn < size:
            count = min(size - drawn, _CHUNK)
            candidates = case.encode(marginal.sample(count, generator).double())
            total = torch.logaddexp(total, log_sums(case.similarity, first.float(), candidates.float()).double())
            drawn += count
        # φ(u, u⁺) stands on both sides and falls out.
        each = total - math.log(size) + case.space.log_volume - log_normaliser
        gaps.append(float(each.mean()))
        bands.append(_95_PERCENT * float(each.std()) / math.sqrt(anchors))
    entropy = float((log_normaliser - aligned).mean())
    return Limit(case.name, entropy, tuple(sizes), tuple(gaps), tuple(bands))


def _on_sphere(kappa: float, dim: int) -> list[Case]:
    law = VonMisesFisher(kappa)
    rotation = torch.linalg.qr(torch.randn(dim, dim, generator=Generator().manual_seed(1), dtype=torch.float64))[0]
    wider = 1.5

    def constant(value: float) -> Map:
        return lambda z: torch.full((len(z),), value, dtype=torch.float64)

    matched = constant(law.log_normaliser(dim))
    radius = math.sqrt(kappa)
    maps: list[tuple[str, Map, Map]] = [
        ("identity", lambda z: radius * z, matched),
        ("rotation", lambda z: radius * z @ rotation, matched),
        # Dot products grow: no isometry, and q_h is narrower than p.
        ("stretched", lambda z: wider * radius * z, constant(VonMisesFisher(wider**2 * kappa).log_normaliser(dim))),
    ]
    return [
        Case(f"{law} in {dim} dimensions, {name}", Sphere(dim), law, DotProduct(), encode, log_normaliser)
        for name, encode, log_normaliser in maps
    ]


def _in_box(law: Laplace | Normal, alpha: float, scale: float, dim: int = 3) -> list[Case]:
    space, similarity = Box(dim), PowerDistance(alpha)
    maps: list[tuple[str, Map]] = [
        ("identity", lambda z: scale * z),
        ("permutation", lambda z: scale * (1 - z.roll(1, dims=1))),
        ("squares", lambda z: scale * z.square()),  # bends every axis
    ]
    return [
        Case(
            f"{law} in a box of {dim} dimensions, {name}",
            space,
            law,
            similarity,
            encode,
            _by_quadrature(similarity, encode),
        )
        for name, encode in maps
    ]


def _by_quadrature(similarity: PowerDistance, encode: Map) -> Map:
    """Log C_h for a map of each coordinate by itself: a product of integrals over [0, 1], by Simpson's rule."""

    def log_normaliser(latents: Tensor) -> Tensor:
        from scipy.integrate import simpson

        grid = torch.linspace(0, 1, _QUADRATURE_POINTS, dtype=torch.float64)
        points = encode(grid[:, None].expand(-1, latents.shape[1]))
        codes = encode(latents)
        total = torch.zeros(len(latents), dtype=torch.float64)
        for k in range(latents.shape[1]):
            weights = (-(codes[:, k, None] - points[:, k]).abs().pow(similarity.alpha)).exp()
            total += torch.from_numpy(simpson(weights.numpy(), x=grid.numpy(), axis=1)).log()
        return total

    return log_normaliser


CASES: tuple[Case, ...] = (
    *(case for kappa in (1.0, 10.0) for dim in (3, 10) for case in _on_sphere(kappa, dim)),
    *_in_box(Laplace(0.1), 1.0, 1 / 0.1),
    *_in_box(Normal(0.1), 2.0, 1 / (0.1 * math.sqrt(2))),
)
"""What `identica theory theorem1` measures."""

TOO_NARROW: Case = _in_box(Laplace(0.05), 1.0, 1 / 0.05, dim=10)[0]
"""The paper's own setting, whose pairs share about as many nats as log M for millions of negatives: the gap stays."""
