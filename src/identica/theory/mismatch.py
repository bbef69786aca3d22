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
_SMALL_KAPPA = 1e-5
_AS_GOOD_AS_ZERO = 50.0
_FAR = 40.0


def mass_to_move(marginal: Marginal) -> float:
    """½ ∫ |p(z) - 1/|Z|| dz: 0 for a uniform marginal, 1 for a single point.

    By a formula for a von Mises–Fisher law on a sphere, by quadrature for noise in a box.

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
    if isinstance(space, Box) and isinstance(law, AdditiveNoise) and not isinstance(law.scale, tuple):
        return _in_box(law, space)
    raise InputError(f"marginal must be vmf on a sphere, or noise in a box, got {law} on {space}")


def _on_sphere(law: VonMisesFisher, space: Sphere) -> float:
    """Only t = μᵀz matters. Both densities are equal at one t ≥ 0, and beyond it p is the larger one.

    With a = (N - 1) / 2, ∫_t^1 s^k (1 - s²)^(a - 1) ds is half an incomplete beta function of 1 - t², so the mass of
    exp(κs) beyond t is a series of positive terms, of which those within some √κ of κ count.
    """
    from scipy.special import betainc, betaln, gammaln, logsumexp

    dim, kappa = space.dim, law.kappa
    log_normaliser = law.log_normaliser(dim)
    # Where κ is so small that the difference would be rounding alone, t is κ/2N.
    equal = (log_normaliser - space.log_volume) / kappa if kappa > _SMALL_KAPPA else kappa / (2 * dim)
    equal = min(1.0, max(0.0, equal))
    a = (dim - 1) / 2
    beyond_if_uniform = 0.5 * betainc(a, 0.5, 1 - equal**2)
    reach = 40 * math.sqrt(kappa) + 100
    k = np.arange(max(0, int(kappa - reach - dim)), int(kappa + reach))
    with np.errstate(divide="ignore"):  # the last terms may be zero
        log_integrals = np.log(betainc(a, (k + 1) / 2, 1 - equal**2)) + betaln(a, (k + 1) / 2) - math.log(2)
    # The sphere around the axis, |S^{N-2}| = 2 π^a / Γ(a), times the integral along it.
    log_ring = math.log(2) + a * math.log(math.pi) - gammaln(a)
    terms = k * math.log(kappa) - gammaln(k + 1) + log_integrals
    beyond = math.exp(float(logsumexp(terms)) + log_ring - log_normaliser)
    return min(1.0, max(0.0, float(beyond - beyond_if_uniform)))


def _in_box(law: AdditiveNoise, space: Box) -> float:
    """Only s, log p(z) less that of the uniform law, matters; it is a sum over coordinates, whose laws are convolved.

    Each coordinate is taken on a grid, its s is put on bins, and bins of the sum are counted by a Fourier transform.
    """
    low, high = space.bounds(torch.zeros(1, dtype=torch.float64))
    sides = Counter(Box(1, start, end) for start, end in zip(low.tolist(), high.tolist(), strict=True))
    parts = {side: _one_coordinate(law, side) for side in sides}
    last = max(float(s.max()) for s, _, _ in parts.values())
    # One coordinate so far out makes p as good as 0, whatever the others are: how far does not matter.
    least = max(min(float(s.min()) for s, _, _ in parts.values()), -space.dim * max(0.0, last) - _AS_GOOD_AS_ZERO)
    width = max((last - least) / (_BINS - 1), np.finfo(float).tiny)
    size = space.dim * _BINS
    spectra = np.ones((2, size // 2 + 1), dtype=complex)
    for side, (s, *masses) in parts.items():
        # Shared between the two nearest bins, so that the mean of s stays what it is.
        place = (np.maximum(s, least) - least) / width
        left = np.minimum(place.astype(int), _BINS - 2)
        right = place - left
        for index, mass in enumerate(masses):
            counted = np.bincount(left, mass * (1 - right), _BINS) + np.bincount(left + 1, mass * right, _BINS)
            spectra[index] *= np.fft.rfft(counted, size) ** sides[side]
    of_p, of_uniform = (np.fft.irfft(spectrum, size) for spectrum in spectra)
    return min(1.0, float(0.5 * np.abs(of_p - of_uniform).sum()))


def _one_coordinate(law: AdditiveNoise, side: Box) -> tuple[Array, Array, Array]:
    """Log p(z) less that of the uniform law in cells of a grid, and the masses of the cells by p and by uniform."""
    low, high = (float(bound) for bound in side.bounds(torch.zeros(1, dtype=torch.float64)))
    centre = (low + high) / 2
    coarse = np.linspace(low, high, _GRID // 2)
    assert not isinstance(law.scale, tuple)
    fine = centre + law.scale * np.linspace(-_FAR, _FAR, _GRID // 2)
    edges = np.unique(np.concatenate([coarse, fine[(fine > low) & (fine < high)]]))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    log_ratio = Marginal(side, law).log_prob(torch.from_numpy(middles)[:, None]).numpy() + side.log_volume
    masses = np.exp(log_ratio) * widths
    return log_ratio, masses / masses.sum(), widths / widths.sum()
