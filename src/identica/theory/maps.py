"""Propositions 1, 2 and 4: how far is h = f ∘ g from an isometry, and from which map is it at all different?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica.metrics import linear_r2, mcc
from identica.similarities import Similarity

__all__ = ["Explained", "explain", "similarities"]

Array = NDArray[np.float64]

_PAIRS = 20_000


@final
@dataclass(frozen=True)
class Explained:
    """How much of the codes each kind of map of the latents explains: R², fitted on one half, measured on the other.

    Args:
        orthogonal: h(z) = s · z R + b, with R orthogonal and one scale s.
        affine: h(z) = z A + b.
        permutation: each code is one latent, times a scale, plus a shift; the squared correlation of code and latent.
        isometry: Correlation of φ between latents with φ between codes, over random pairs; 1 for an isometry.
        slope: Of φ between codes against φ between latents; `Similarity.matched_slope` is what the theory asks for.
    """

    orthogonal: float
    affine: float
    permutation: float
    isometry: float
    slope: float

    def summary(self) -> dict[str, float]:
        """In percent, but for the slope."""
        percents = {name: round(100 * value, 2) for name, value in vars(self).items() if name != "slope"}
        return percents | {"slope": float(f"{self.slope:.4g}")}


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
    if not h.std(axis=0).all():
        raise InputError("codes must vary, but some are the same for all latents")
    _checks.seed("seed", seed)
    matched = np.array(mcc(h, z, seed=seed).per_factor)
    between_latents, between_codes = similarities(z, h, similarity, seed=seed)
    return Explained(
        orthogonal=_orthogonal_r2(z, h, seed),
        affine=linear_r2(h, z, seed=seed).value,
        permutation=float(np.mean(matched**2)),
        isometry=float(np.corrcoef(between_latents, between_codes)[0, 1]),
        slope=float(np.polyfit(between_latents, between_codes, 1)[0]),
    )


def similarities(latents: Any, codes: Any, similarity: Similarity, *, seed: int = 0) -> tuple[Array, Array]:
    """φ between random pairs of latents, and between their codes: on one straight line for an isometry.

    Args:
        latents: z, [samples, N].
        codes: h(z), [samples, N].
        similarity: φ.
        seed: Of the pairs.
    """
    z, h = torch.as_tensor(np.asarray(latents)).double(), torch.as_tensor(np.asarray(codes)).double()
    first, second = np.random.default_rng([seed, 1]).integers(len(z), size=(2, _PAIRS))
    return similarity.paired(z[first], z[second]).numpy(), similarity.paired(h[first], h[second]).numpy()


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
