"""R² (identified up to an affine map) and MCC (up to permutation, sign and scale), with their chance levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica._words import percent
from identica.metrics._chance import chance_level
from identica.metrics._inputs import Array, matching_samples
from identica.metrics._kinds import Kinds, numbers, read_kinds

__all__ = ["Score", "correlations", "linear_r2", "mcc"]

Correlation = Literal["pearson", "spearman"]


@final
@dataclass(frozen=True)
class Score:
    """A score with what it must be compared to.

    Args:
        value: The score, 1 at best.
        chance: The mean score of random codes of the same size.
        per_factor: The score of each latent; `value` is their mean. Empty if it is a score of codes.
        assignment: For MCC, the code that each latent was matched with (-1: none).
        per_code: The score of each code, for modularity and disentanglement.
    """

    value: float
    chance: float
    per_factor: tuple[float, ...] = ()
    assignment: tuple[int, ...] | None = None
    per_code: tuple[float, ...] | None = None

    def summary(self) -> dict[str, Any]:
        """As plain data, in percent."""
        found: dict[str, Any] = {
            "value": percent(self.value),
            "chance": percent(self.chance),
            "per_factor": [percent(value) for value in self.per_factor],
        }
        if self.assignment is not None:
            found["assignment"] = list(self.assignment)
        if self.per_code is not None:
            found["per_code"] = [percent(value) for value in self.per_code]
        return found


def linear_r2(latents: Any, codes: Any, *, held_out: bool = True, seed: int = 0, kinds: Kinds = None) -> Score:
    """R² of an ordinary least squares fit from codes to latents, averaged over latents.

    R² = 1 - Σ(z - ẑ)² / Σ(z - z̄)², with ẑ an affine function of the codes.

    Args:
        latents: [samples, factors].
        codes: [samples, outputs].
        held_out: Fit on one half of the samples and score the other; otherwise fit and score on all of them.
        seed: Of the split and of the random codes behind the chance level.
        kinds: One for each latent, as in `mig`. Of a `circular` one, sine and cosine are predicted, of a `categorical`
            one indicators; all others are numbers, which is the default.

    Example:
        >>> z = np.random.default_rng(0).normal(size=(100, 3))
        >>> round(linear_r2(z, 2 * z[:, ::-1] + 1).value, 6)
        1.0
    """
    z, h = matching_samples(latents, codes)
    outputs = h.shape[1]
    fitted = z.shape[0] // 2 if held_out else z.shape[0]
    if fitted <= outputs:
        raise InputError(
            f"codes with {outputs} columns need more than {outputs} samples to fit, got {fitted}"
            + (" (half of the samples; pass held_out=False to fit on all)" if held_out else "")
        )
    order = np.random.default_rng(seed).permutation(z.shape[0])
    fit, test = _split(order, held_out)

    targets, starts = _targets(z, kinds)

    def score(values: Array) -> Array:
        return _least_squares_r2(values[fit], targets[fit], values[test], targets[test], starts)

    per_factor = score(h)
    return Score(float(per_factor.mean()), chance_level(score, h.shape, seed), tuple(map(float, per_factor)))


def mcc(
    latents: Any, codes: Any, *, correlation: Correlation = "pearson", held_out: bool = True, seed: int = 0
) -> Score:
    """Mean absolute correlation of latents and codes after the best one-to-one assignment.

    With more outputs than factors the assignment is rectangular and spare outputs are left out; with fewer, the
    factors left over count as 0.

    Args:
        latents: [samples, factors].
        codes: [samples, outputs].
        correlation: `pearson`, or `spearman` (of ranks).
        held_out: Assign on one half of the samples and correlate on the other; otherwise do both on all of them.
        seed: Of the split and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).normal(size=(100, 3))
        >>> round(mcc(z, -3 * z[:, ::-1]).value, 6)
        1.0
    """
    from scipy.stats import rankdata

    _checks.choice("correlation", correlation, ("pearson", "spearman"))
    z, h = matching_samples(latents, codes)
    order = np.random.default_rng(seed).permutation(z.shape[0])
    fit, test = _split(order, held_out)

    def prepare(values: Array) -> Array:
        return rankdata(values, axis=0) if correlation == "spearman" else values

    halves = [prepare(z[half]) for half in (fit, test)]

    def score(values: Array) -> tuple[Array, NDArray[np.int64]]:
        assignment = _assign(np.abs(correlations(halves[0], prepare(values[fit]))))
        table = np.abs(correlations(halves[1], prepare(values[test])))
        matched = np.where(assignment >= 0, table[np.arange(len(assignment)), assignment], 0.0)
        return matched, assignment

    per_factor, assignment = score(h)
    chance = chance_level(lambda values: score(values)[0], h.shape, seed)
    return Score(float(per_factor.mean()), chance, tuple(map(float, per_factor)), tuple(map(int, assignment)))


def _split(order: NDArray[np.int64], held_out: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    half = len(order) // 2
    return (order[:half], order[half:]) if held_out else (order, order)


def _targets(z: Array, kinds: Kinds) -> tuple[Array, NDArray[np.int64]]:
    """What is predicted, and at which column that of each latent starts."""
    named = () if kinds is None else read_kinds(kinds, z)
    if not {"circular", "categorical"}.intersection(named):
        return z, np.arange(z.shape[1])
    parts = [numbers(z[:, index], kind) for index, kind in enumerate(named)]
    widths = [part.shape[1] for part in parts]
    return np.hstack(parts), np.cumsum([0, *widths[:-1]])


def _least_squares_r2(x_fit: Array, y_fit: Array, x_test: Array, y_test: Array, starts: NDArray[np.int64]) -> Array:
    from sklearn.linear_model import LinearRegression

    predicted = LinearRegression().fit(x_fit, y_fit).predict(x_test)
    residual = np.square(y_test - predicted.reshape(y_test.shape)).sum(axis=0)
    total = np.square(y_test - y_test.mean(axis=0)).sum(axis=0)
    result: Array = 1 - np.add.reduceat(residual, starts) / np.add.reduceat(total, starts)
    return result


def correlations(first: Array, second: Array) -> Array:
    """Pearson correlations, [columns of first, columns of second]; 0 for constant columns."""
    result: Array = _standardised(first).T @ _standardised(second)
    return result


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    varies = norms > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0)) * np.sqrt(len(values))
    result: Array = np.divide(centred, norms, out=np.zeros_like(centred), where=varies)
    return result


def _assign(table: Array) -> NDArray[np.int64]:
    """The column assigned to each row so that the sum is largest; -1 where rows outnumber columns."""
    from scipy.optimize import linear_sum_assignment

    rows, chosen = linear_sum_assignment(table, maximize=True)
    assignment = np.full(table.shape[0], -1, dtype=np.int64)
    assignment[rows] = chosen
    return assignment
