"""Propositions 1, 2 and 4: how far is h = f ∘ g from an isometry, and from which map is it at all different?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.metrics import linear_r2, mcc
from identica.objectives import DotProduct, PowerDistance, Similarity

__all__ = ["Explained", "explain"]

Array = NDArray[np.float64]

_PAIRS = 20_000


@final
@dataclass(frozen=True)
class Explained:
    """How much of the codes each kind of map of the latents explains: R², fitted on one half, measured on the other.

    Args:
        orthogonal: h(z) = s · z R + b, with R orthogonal and one scale s.
        affine: h(z) = z A + b.
        permutation: each code is one latent, times a scale, plus a shift.
        isometry: Correlation of φ between latents with φ between codes, over random pairs; 1 for an isometry.
    """

    orthogonal: float
    affine: float
    permutation: float
    isometry: float

    def summary(self) -> dict[str, float]:
        """In percent."""
        return {name: round(100 * value, 2) for name, value in vars(self).items()}


def explain(latents: Any, codes: Any, similarity: Similarity, *, seed: int = 0) -> Explained:
    """Explain codes by maps of the latents.

    Args:
        latents: z, [samples, N].
        codes: h(z), [samples, N].
        similarity: φ, that the encoder was trained with.
        seed: Of the split and of the random pairs.
    """
    z, h = np.asarray(latents, dtype=np.float64), np.asarray(codes, dtype=np.float64)
    if z.shape != h.shape or z.ndim != 2:
        raise InputError(f"latents and codes must have one shape [samples, N], got {list(z.shape)} and {list(h.shape)}")
    matched = np.array(mcc(h, z, seed=seed).per_factor)
    return Explained(
        orthogonal=_orthogonal_r2(z, h, seed),
        affine=linear_r2(h, z, seed=seed).value,
        permutation=float(np.mean(matched**2)),
        isometry=_isometry(z, h, similarity, seed),
    )


def _orthogonal_r2(z: Array, h: Array, seed: int) -> float:
    from scipy.linalg import orthogonal_procrustes

    order = np.random.default_rng(seed).permutation(len(z))
    fit, test = order[: len(z) // 2], order[len(z) // 2 :]
    z_mean, h_mean = z[fit].mean(axis=0), h[fit].mean(axis=0)
    centred = z[fit] - z_mean
    rotation, strength = orthogonal_procrustes(centred, h[fit] - h_mean)
    predicted = strength / np.square(centred).sum() * (z[test] - z_mean) @ rotation + h_mean
    residual = np.square(h[test] - predicted).sum()
    return float(1 - residual / np.square(h[test] - h[test].mean(axis=0)).sum())


def _isometry(z: Array, h: Array, similarity: Similarity, seed: int) -> float:
    """An isometry keeps φ up to a factor and a constant."""
    first, second = np.random.default_rng([seed, 1]).integers(len(z), size=(2, _PAIRS))
    return float(np.corrcoef(_phi(similarity, z[first], z[second]), _phi(similarity, h[first], h[second]))[0, 1])


def _phi(similarity: Similarity, first: Array, second: Array) -> Array:
    if isinstance(similarity, PowerDistance):
        distances: Array = -(np.abs(first - second) ** similarity.alpha)
        return distances.sum(axis=1)
    assert isinstance(similarity, DotProduct)
    products: Array = (first * second).sum(axis=1)
    return products
