"""Linear classifiers, fitted by L-BFGS on a convex loss with one minimum: no seed, no solver to choose."""

from __future__ import annotations

from typing import Literal

import numpy as np

from identica.metrics._inputs import Array

__all__ = ["class_scores", "standardised"]


def standardised(fitted: Array, *others: Array) -> list[Array]:
    """Columns less their mean, over their deviation, both from the first array; 0 where that is constant."""
    mean, deviation = fitted.mean(axis=0), fitted.std(axis=0)
    varies = deviation > 1e-12 * np.maximum(1.0, np.abs(fitted).max(axis=0))
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
    return [(values - mean) * scale for values in (fitted, *others)]


def class_scores(
    inputs: Array, indicators: Array, tests: Array, *, loss: Literal["softmax", "each"], penalty: float = 1.0
) -> Array:
    """Scores of classes for the test rows, [test rows, classes], linear in the inputs.

    Args:
        inputs: [rows, inputs]; they are standardised first.
        indicators: 1 where a row is of a class, [rows, classes].
        tests: [test rows, inputs].
        loss: One `softmax` over all classes, or a logistic regression for `each` class against the rest.
        penalty: Half of this times the squared weights is added to the summed loss.
    """
    from scipy.optimize import minimize

    x, tested = (np.column_stack([part, np.ones(len(part))]) for part in standardised(inputs, tests))
    shape = x.shape[1], indicators.shape[1]
    free = np.ones((x.shape[1], 1))
    free[-1] = 0.0  # the constant is not shrunk

    def objective(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(shape)
        logits = x @ weights
        normaliser, chances = _softmax(logits) if loss == "softmax" else _logistic(logits)
        value = normaliser.sum() - (indicators * logits).sum() + penalty / 2 * np.square(free * weights).sum()
        gradient = x.T @ (chances - indicators) + penalty * free * weights
        return float(value) / len(x), gradient.ravel() / len(x)

    found = minimize(objective, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    result: Array = tested @ found.x.reshape(shape)
    return result


def _softmax(logits: Array) -> tuple[Array, Array]:
    most = logits.max(axis=1, keepdims=True)
    powers = np.exp(logits - most)
    total = powers.sum(axis=1, keepdims=True)
    return most + np.log(total), powers / total


def _logistic(logits: Array) -> tuple[Array, Array]:
    small = np.exp(-np.abs(logits))
    chances = np.where(logits >= 0, 1.0, small) / (1 + small)
    return np.maximum(logits, 0) + np.log1p(small), chances
