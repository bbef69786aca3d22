"""What random codes get, and which samples a score takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from identica.metrics._inputs import Array

__all__ = ["Rows", "chance_level", "some", "split"]

Rows = NDArray[np.int64]

_DRAWS, _ENTRIES = 10, 2_000_000


def chance_level(
    score: Callable[[Array], Array], shape: tuple[int, ...], seed: int, *, draws: int | None = None
) -> float:
    """The mean score of random codes of this shape."""
    generator = np.random.default_rng([seed, 1])
    # Large codes vary little from draw to draw, and take long.
    draws = int(np.clip(_ENTRIES / np.prod(shape), 2, _DRAWS)) if draws is None else draws
    return float(np.mean([score(generator.standard_normal(shape)).mean() for _ in range(draws)]))


def some(samples: int, most: int, seed: int) -> Rows:
    """Numbers of up to `most` samples, all of them in their order if there are no more."""
    if samples <= most:
        return np.arange(samples)
    return np.sort(np.random.default_rng(seed).choice(samples, most, replace=False))


def split(samples: int, train: int, test: int, seed: int) -> tuple[Rows, Rows]:
    """Rows to fit on and others to score; in the same proportion if there are too few."""
    part = min(1.0, samples / (train + test))
    order = np.random.default_rng(seed).permutation(samples)
    fitted = max(1, int(train * part))
    return order[:fitted], order[fitted : fitted + max(1, int(test * part))]
