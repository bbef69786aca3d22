"""How far a marginal is from the uniform one that the theorems assume: the probability mass that would have to move."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import torch
from numpy.typing import NDArray

from identica._checks import InputError
from identica.laws import AdditiveNoise, Marginal, Uniform, VonMisesFisher
from identica.spaces import Box, Sphere

__all__ = ["mass_to_move"]

Array = NDArray[np.float64]

_GRID = 1 << 18
_BINS = 1 << 16


def mass_to_move(marginal: Marginal) -> float:
    """½ ∫ |p(z) - 1/|Z|| dz: 0 for a uniform marginal, 1 for a single point.

    Exact for a von Mises–Fisher law on a sphere, by quadrature for noise in a box.

    Example:
        >>> from identica.laws import Normal
        >>> round(mass_to_move(Marginal(Box(1), Normal(0.1))), 3)
        0.571
    """
    space, law = marginal.space, marginal.law
    if isinstance(law, Uniform):
        return 0.0
    if isinstance(space, Sphere) and isinstance(law, VonMisesFisher):
        return _on_sphere(law, space)
    if isinstance(space, Box) and isinstance(law, AdditiveNoise):
        return _in_box(law, space)
    raise InputError(f"marginal must be vmf on a sphere, or noise in a box, got {law} on {space}")


def _on_sphere(law: VonMisesFisher, space: Sphere) -> float:
    """Only t = μᵀz matters. Both densities are equal at one t ≥ 0, and beyond it p is the larger one.

    With a = (N - 1) / 2, ∫_t^1 s^k (1 - s²)^(a - 1) ds is half an incomplete beta function of 1 - t², so the mass of
    exp(κs) beyond t is a series of positive terms, which is shorter than κ + 40 √κ + 100.
    """
    from scipy.special import betainc, betaln, gammaln, logsumexp

    dim, kappa = space.dim, law.kappa
    log_normaliser = law.log_normaliser(dim)
    equal = min(1.0, (log_normaliser - space.log_volume) / kappa)
    a = (dim - 1) / 2
    beyond_if_uniform = 0.5 * betainc(a, 0.5, 1 - equal**2)
    k = np.arange(int(kappa + 40 * math.sqrt(kappa)) + 100)
    with np.errstate(divide="ignore"):  # the last terms may be zero
        log_integrals = np.log(betainc(a, (k + 1) / 2, 1 - equal**2)) + betaln(a, (k + 1) / 2) - math.log(2)
    # The sphere around the axis, |S^{N-2}| = 2 π^a / Γ(a), times the integral along it.
    log_ring = math.log(2) + a * math.log(math.pi) - gammaln(a)
    terms = k * math.log(kappa) - gammaln(k + 1) + log_integrals
    beyond = math.exp(float(logsumexp(terms)) + log_ring - log_normaliser)
    return float(beyond - beyond_if_uniform)


def _in_box(law: AdditiveNoise, space: Box) -> float:
    """Only s = log p(z) matters, and it is a sum over coordinates: its laws are convolved, and p > 1/|Z| summed up.

    A coordinate is taken on a grid, its s is put on bins, and bins of the sum are counted by a Fourier transform.
    """
    low, high = space.bounds(torch.zeros(1, dtype=torch.float64))
    sides = Counter(Box(1, start, end) for start, end in zip(low.tolist(), high.tolist(), strict=True))
    parts = {side: _one_coordinate(law, side) for side in sides}
    first, last = min(float(s.min()) for s, _ in parts.values()), max(float(s.max()) for s, _ in parts.values())
    width = max((last - first) / (_BINS - 1), np.finfo(float).tiny)
    size = space.dim * _BINS
    spectra = np.ones((2, size // 2 + 1), dtype=complex)
    for side, (s, masses) in parts.items():
        # Shared between the two nearest bins, so that the mean of s stays what it is.
        place = (s - first) / width
        left = np.minimum(place.astype(int), _BINS - 2)
        right = place - left
        for index, mass in enumerate((masses, np.full_like(masses, 1 / len(masses)))):
            counted = np.bincount(left, mass * (1 - right), _BINS) + np.bincount(left + 1, mass * right, _BINS)
            spectra[index] *= np.fft.rfft(counted, size) ** sides[side]
    of_p, of_uniform = (np.fft.irfft(spectrum, size) for spectrum in spectra)
    return float(0.5 * np.abs(of_p - of_uniform).sum())


def _one_coordinate(law: AdditiveNoise, side: Box) -> tuple[Array, Array]:
    """Log p(z) less that of the uniform law at midpoints of a grid, and the mass of each cell."""
    low, high = side.bounds(torch.zeros(1, dtype=torch.float64))
    grid = low + (high - low) * (torch.arange(_GRID, dtype=torch.float64)[:, None] + 0.5) / _GRID
    log_ratio = Marginal(side, law).log_prob(grid).numpy() + side.log_volume
    masses = np.exp(log_ratio) / _GRID
    return log_ratio, masses / masses.sum()
