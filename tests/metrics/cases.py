"""Factors and codes whose scores can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def grid(*sizes: int, repeats: int = 40) -> Array:
    """Every combination of values, equally often, in a random order: factors that are exactly independent."""
    values = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))
    return np.random.default_rng(0).permutation(np.tile(values, (repeats, 1))).astype(float)


def noise(samples: int, outputs: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=(samples, outputs))


def turned(values: Array) -> Array:
    """Two factors, rotated by 45°."""
    return values @ np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)


def permuted_and_rescaled(values: Array) -> Array:
    """Columns in another order, each with its own scale and offset."""
    return 0.5 * values[:, ::-1] * np.arange(1, values.shape[1] + 1) + 3
