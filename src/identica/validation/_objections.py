"""What speaks against a space, whatever the bits: the shape of the codes that were found in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.spaces import Box, Real, Space, Sphere

__all__ = ["objection"]

# Excess kurtosis halfway between a uniform law (-1.2) and a normal one (0).
_HIGHEST_KURTOSIS_IN_A_BOX = -0.6
# A box is a subset of the unbounded space, with the same bits: codes that are nearly uniform are those of a box.
_LOWEST_KURTOSIS_WITHOUT_BOUNDS = -0.9
# Without bounds or in a box a sphere can be a subset of the space, with the same bits. The spread of the radius is 0 on
# a sphere, 0.45 in a box, 0.71 for normal codes; on a sphere, after short fits, 0.16 to 0.21 were seen.
_LEAST_SPREAD_OF_RADIUS = 0.3
# Directions of codes that are smaller than this part of the largest are numerical noise.
_LEAST_SIZE = 1e-4


def objection(space: Space, codes: NDArray[np.floating[Any]]) -> str | None:
    """What the shape of these codes, [samples, d], says against the space, if anything."""
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


def _spread_of_radius(centred: NDArray[np.floating[Any]]) -> float:
    """√d times the coefficient of variation of the radius of whitened codes; one code has no sphere to lie on."""
    count, dim = centred.shape
    if dim < 2:
        return math.inf
    _, sizes, axes = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    kept = sizes > _LEAST_SIZE * sizes[0]
    radius = np.linalg.norm(centred @ axes[kept].T * (math.sqrt(count) / sizes[kept]), axis=1)
    return float(radius.std() / radius.mean()) * math.sqrt(dim)
