"""What speaks against an assumption, whatever the bits: the shape of its codes, and how partners differ in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.models import Model
from identica.similarities import PowerDistance
from identica.spaces import Box, Real, Space, Sphere

__all__ = ["objection", "shows_light_tails"]

Array = NDArray[np.floating[Any]]

# Excess kurtosis halfway between a uniform law (-1.2) and a normal one (0).
_HIGHEST_KURTOSIS_IN_A_BOX = -0.6
# A box is a subset of the unbounded space, with the same bits: codes that are nearly uniform are those of a box.
_LOWEST_KURTOSIS_WITHOUT_BOUNDS = -0.9
# Without bounds or in a box a sphere can be a subset of the space, with the same bits. The spread of the radius is 0 on
# a sphere, 0.45 in a box, 0.71 for normal codes; on a sphere, after short fits, 0.16 to 0.21 were seen.
_LEAST_SPREAD_OF_RADIUS = 0.3
# Directions of codes that are smaller than this part of the largest are numerical noise.
_LEAST_SIZE = 1e-4
# Rank correlation of how far a code is from the middle of a box with how far it is from its partner. Noise that is
# confined to the box gives -0.04 to -0.1, and fits of such pairs gave -0.04 to -0.12; boxes into which an unbounded
# space was squeezed gave -0.26 to -0.28.
_LOWEST_CORRELATION_IN_A_BOX = -0.19


def objection(model: Model, codes: Array, first: Array, second: Array) -> str | None:
    """What codes, [samples, d], and those of held-out partners, [pairs, d] each, say against a model, if anything."""
    apart = second - first
    return _of_space(model.space, codes) or _of_confinement(model.space, first, apart) or _of_law(model, apart)


def _of_space(space: Space, codes: Array) -> str | None:
    if isinstance(space, Sphere):
        return None
    centred = codes - codes.mean(axis=0)
    spread = _spread_of_radius(centred)
    if spread < _LEAST_SPREAD_OF_RADIUS:
        return f"codes lie on a sphere: their radius varies by {100 * spread / math.sqrt(centred.shape[1]):.0f} %"
    kurtosis = float(np.median((centred**4).mean(axis=0) / (centred**2).mean(axis=0) ** 2)) - 3
    if isinstance(space, Box) and kurtosis > _HIGHEST_KURTOSIS_IN_A_BOX:
        return f"codes do not fill a box: excess kurtosis {kurtosis:.2f}, uniform codes have -1.20"
    if isinstance(space, Real) and kurtosis < _LOWEST_KURTOSIS_WITHOUT_BOUNDS:
        return f"codes fill a box: excess kurtosis {kurtosis:.2f}, uniform codes have -1.20"
    return None


def _of_confinement(space: Space, first: Array, apart: Array) -> str | None:
    """Whether a box squeezes a larger space: its ends hold more of it than its middle, so partners are nearer there.

    A network can squeeze any space so that codes fill a box, and near the limit of bits that costs nothing.
    """
    if not isinstance(space, Box):
        return None
    correlation = _rank_correlation(np.abs(first - np.median(first, axis=0)), np.abs(apart))
    if correlation >= _LOWEST_CORRELATION_IN_A_BOX:
        return None
    return f"a larger space is squeezed into the box: partners are nearer at its ends (correlation {correlation:.2f})"


def _rank_correlation(ours: Array, theirs: Array) -> float:
    """Of columns with the same columns, by ranks, mean over those that vary."""
    from scipy.stats import rankdata

    varied = (np.ptp(ours, axis=0) > 0) & (np.ptp(theirs, axis=0) > 0)
    if not varied.any():
        return 0.0
    ranks = [rankdata(values[:, varied], axis=0) for values in (ours, theirs)]
    one, other = ((values - values.mean(axis=0)) / values.std(axis=0) for values in ranks)
    return float((one * other).mean())


def _of_law(model: Model, apart: Array) -> str | None:
    """Whether partners differ by something nearer to a normal law than to one with heavier tails that is assumed.

    Bits near their limit do not tell laws apart, and this does. Not for lighter tails: what an encoder gets wrong adds
    to the differences and makes them look normal. Nor is a normal law refused: after a turn of the axes all look so.
    """
    similarity = model.similarity
    if not isinstance(similarity, PowerDistance) or similarity.alpha >= 2:
        return None
    own, normal = (_gap(apart, alpha) for alpha in (similarity.alpha, 2.0))
    if own <= normal:
        return None
    return f"partners differ as by normal noise: the distance to that law is {normal:.3f}, to the assumed one {own:.3f}"


def shows_light_tails(model: Model, apart: Array) -> bool:
    """Whether differences of partners are nearer to a power above 2 that is assumed than to a normal law.

    What an encoder gets wrong, and a turn of the axes, only make them look more normal; so this speaks for the power,
    and its absence says nothing.
    """
    similarity = model.similarity
    if not isinstance(similarity, PowerDistance) or similarity.alpha <= 2:
        return False
    return _gap(apart, similarity.alpha) < _gap(apart, 2.0)


def _gap(apart: Array, alpha: float) -> float:
    """Largest distance of distribution functions to the law ∝ exp(-|t / λ|^α) of the likeliest λ, mean over codes."""
    from scipy.stats import gennorm, kstest

    centred = apart - np.median(apart, axis=0)
    scales = (alpha * (np.abs(centred) ** alpha).mean(axis=0)) ** (1 / alpha)
    moving = scales > 0
    units = centred[:, moving] / scales[moving]
    return float(np.mean([kstest(column, gennorm(alpha).cdf).statistic for column in units.T])) if moving.any() else 0.0


def _spread_of_radius(centred: Array) -> float:
    """√d times the coefficient of variation of the radius of whitened codes; one code has no sphere to lie on."""
    count, dim = centred.shape
    if dim < 2:
        return math.inf
    _, sizes, axes = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    kept = sizes > _LEAST_SIZE * sizes[0]
    radius = np.linalg.norm(centred @ axes[kept].T * (math.sqrt(count) / sizes[kept]), axis=1)
    return float(radius.std() / radius.mean()) * math.sqrt(dim)
