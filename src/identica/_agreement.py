"""How well the codes of two fits agree, up to what the theory leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.metrics import mcc
from identica.models import Ambiguity

__all__ = ["STRONG", "WEAK", "agreement_of"]

Array = NDArray[np.float64]

STRONG, WEAK = 0.95, 0.8
"""Agreement from which a component counts as found again, and from which fits agree in part."""


def agreement_of(ambiguity: Ambiguity, target: Array, source: Array) -> Array:
    """Correlation of each component of one fit with the other's after the best map that the theory leaves open."""
    if ambiguity == "permutation":
        return np.array(mcc(target, source).per_factor)
    return _correlation_after(ambiguity, target, source)


def _correlation_after(ambiguity: Ambiguity, target: Array, source: Array) -> Array:
    """Correlation of each component with the best map of the other run, fitted on one half, measured on the other."""
    order = np.random.default_rng(0).permutation(len(target))
    fit, test = order[: len(order) // 2], order[len(order) // 2 :]
    predicted = _best_map(ambiguity, source[fit], target[fit])(source[test])
    wanted = target[test] - target[test].mean(axis=0)
    got = predicted - predicted.mean(axis=0)
    norms = np.linalg.norm(wanted, axis=0) * np.linalg.norm(got, axis=0)
    result: Array = np.abs((wanted * got).sum(axis=0)) / np.maximum(norms, 1e-300)
    return result


def _best_map(ambiguity: Ambiguity, source: Array, target: Array) -> Any:
    if ambiguity == "rotation":
        from scipy.linalg import orthogonal_procrustes

        rotation, _ = orthogonal_procrustes(source, target)
        return lambda values: values @ rotation
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(source, target).predict
