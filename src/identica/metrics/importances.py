"""Scores from how much each code matters when trees predict a factor: DCI."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from identica import _checks
from identica.metrics._chance import Rows, split
from identica.metrics._inputs import Array, matching_samples
from identica.metrics._kinds import Kind, Kinds, is_counted, labels, numbers, read_kinds
from identica.metrics._linear import standardised
from identica.metrics._trees import boost
from identica.metrics.prediction import LEAST_SAMPLES
from identica.metrics.scores import Score

__all__ = ["DCI", "dci"]

# Random codes matter little and alike, whatever the number of samples: one draw on few samples finds that.
_CHANCE_SAMPLES = 1_500


class DCI(NamedTuple):
    """Three scores from the same trees.

    Attributes:
        disentanglement: Whether each code matters for one factor alone, with a value for each code.
        completeness: Whether one code alone matters for each factor.
        informativeness: How well held-out factors are predicted: accuracy for values, R² for numbers.
    """

    disentanglement: Score
    completeness: Score
    informativeness: Score


def dci(
    factors: Any,
    codes: Any,
    *,
    kinds: Kinds = None,
    train: int = 10_000,
    test: int = 5_000,
    rounds: int = 100,
    seed: int = 0,
) -> DCI:
    """Disentanglement, completeness and informativeness (Eastwood & Williams 2018), from gradient-boosted trees.

    R_ik is how much code i of L matters for predicting factor k of K. With P_ik = R_ik / Σ_k R_ik,
    Q_ik = R_ik / Σ_i R_ik and ρ_i = Σ_k R_ik / Σ_ik R_ik, disentanglement is Σ_i ρ_i (1 + Σ_k P_ik log_K P_ik),
    completeness the mean over factors of 1 + Σ_i Q_ik log_L Q_ik, and informativeness the mean over factors of the
    accuracy (or R²) of the trees on held-out samples.

    Ordinal and categorical factors are classified, continuous ones regressed, circular ones by their sine and cosine.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`.
        train: Number of samples to fit on; with fewer than both, two of three.
        test: Number of samples to score.
        rounds: Number of trees, of each value of a factor that is classified.
        seed: Of the split and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 3, size=(600, 2))
        >>> print([round(score.value, 2) for score in dci(z, z[:, [1, 0]], rounds=20)])
        [1.0, 1.0, 1.0]
    """
    for name, value in (("train", train), ("test", test), ("rounds", rounds)):
        _checks.at_least_one(name, value)
    z, h = matching_samples(factors, codes, at_least=LEAST_SAMPLES)
    named = read_kinds(kinds, z)
    found = _fitted(z, h, named, split(len(z), train, test, seed), rounds)
    few = split(len(z), min(train, _CHANCE_SAMPLES), min(test, _CHANCE_SAMPLES), seed)
    chance = _fitted(z, np.random.default_rng([seed, 1]).standard_normal(h.shape), named, few, rounds)
    return DCI(
        Score(found.disentanglement, chance.disentanglement, per_code=tuple(map(float, found.per_code))),
        _of_factors(found.complete, chance.complete),
        _of_factors(found.informative, chance.informative),
    )


def _of_factors(found: Array, chance: Array) -> Score:
    return Score(float(found.mean()), float(chance.mean()), tuple(map(float, found)))


class _Found(NamedTuple):
    disentanglement: float
    per_code: Array
    complete: Array
    informative: Array


def _fitted(z: Array, h: Array, kinds: tuple[Kind, ...], rows: tuple[Rows, Rows], rounds: int) -> _Found:
    parts = [_predict(z[:, index], kind, h, rows, rounds) for index, kind in enumerate(kinds)]
    table = np.stack([importances for importances, _ in parts], axis=1)
    per_code, complete = _one_sidedness(table), _one_sidedness(table.T)
    weights = table.sum(axis=1)
    total = weights.sum()
    value = float((weights * per_code).sum() / total) if total > 0 else 0.0
    return _Found(value, per_code, complete, np.array([accuracy for _, accuracy in parts]))


def _predict(values: Array, kind: Kind, h: Array, rows: tuple[Rows, Rows], rounds: int) -> tuple[Array, float]:
    """How much each code matters for a factor, and how well the factor is predicted."""
    fit, test = rows
    if is_counted(values, kind):
        classes = labels(values, kind)
        indicators = np.eye(int(classes.max()) + 1)[classes[fit]]
        found = boost(h[fit], indicators, h[test], loss="classes", rounds=rounds)
        return found.importances, float((found.predicted.argmax(axis=1) == classes[test]).mean())
    targets, truth = standardised(numbers(values, kind)[fit], numbers(values, kind)[test])
    found = boost(h[fit], targets, h[test], loss="squares", rounds=rounds)
    total = np.square(truth - truth.mean(axis=0)).sum()
    return found.importances, float(1 - np.square(truth - found.predicted).sum() / max(total, 1e-12))


def _one_sidedness(table: Array) -> Array:
    """1 - the entropy of each row relative to the largest possible: 1 if one entry has all, 0 if all are equal or 0."""
    totals = table.sum(axis=1, keepdims=True)
    parts = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
    entropies = -(parts * np.log(np.where(parts > 0, parts, 1.0))).sum(axis=1)
    most = np.log(table.shape[1]) if table.shape[1] > 1 else 1.0
    result: Array = np.where(totals[:, 0] > 0, 1 - entropies / most, 0.0)
    return result
