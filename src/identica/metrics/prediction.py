"""Scores from how well codes predict factors: explicitness from all codes, SAP from each alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from identica import _checks
from identica.metrics._chance import chance_level, split
from identica.metrics._inputs import Array, matching_samples
from identica.metrics._kinds import Kinds, Labels, is_counted, labels, read_kinds
from identica.metrics._linear import class_scores
from identica.metrics.scores import Score, correlations

__all__ = ["LEAST_SAMPLES", "explicitness", "sap"]

LEAST_SAMPLES = 30
"""Scores that fit a model on one part of the samples and score it on another need this many."""


def explicitness(
    factors: Any, codes: Any, *, kinds: Kinds = None, train: int = 10_000, test: int = 5_000, seed: int = 0
) -> Score:
    """Explicitness (Ridgeway & Mozer 2018): whether linear classifiers read the value of each factor from the codes.

    explicitness = mean over factors k and values v of 2 AUC_kv - 1, with AUC_kv the area under the ROC curve of a
    logistic regression from all codes that tells z_k = v from all other values, on held-out samples.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`; continuous and circular ones are cut into 20 bins of equal width.
        train: Number of samples to fit on; with fewer than both, two of three.
        test: Number of samples to score.
        seed: Of the split and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 2, size=(1000, 3))
        >>> round(explicitness(z, z @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]).value, 2)
        1.0
    """
    z, h = _checked(factors, codes, train, test)
    classes = [labels(z[:, index], kind) for index, kind in enumerate(read_kinds(kinds, z))]
    fit, tested = split(len(z), train, test, seed)

    def score(values: Array) -> Array:
        return np.array([_explicitness(values[fit], one[fit], values[tested], one[tested]) for one in classes])

    per_factor = score(h)
    return Score(float(per_factor.mean()), chance_level(score, h.shape, seed, draws=1), tuple(map(float, per_factor)))


def sap(
    factors: Any, codes: Any, *, kinds: Kinds = None, train: int = 10_000, test: int = 5_000, seed: int = 0
) -> Score:
    """Separated attribute predictability (Kumar et al. 2018): how much better the best code predicts than the next.

    SAP = mean over k of S_k1 - S_k2, the two largest of S_ki over codes i. For a continuous factor S_ki is R² of a
    linear regression from code i alone, their squared correlation. For others it is the held-out accuracy, averaged
    over values, of thresholds on code i: values are put in the order of their mean code, and between two neighbours
    is the threshold that errs least on them. With a single code the next is a constant one.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`; circular ones are cut into 20 bins.
        train: Number of samples to fit on; with fewer than both, two of three.
        test: Number of samples to score.
        seed: Of the split and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
        >>> round(sap(z, z).value, 1), round(sap(z, z[:, [0, 0, 1, 1]]).value, 1)
        (0.7, 0.0)
    """
    z, h = _checked(factors, codes, train, test)
    named = read_kinds(kinds, z)
    fit, tested = split(len(z), train, test, seed)
    numeric = [kind != "circular" and not is_counted(z[:, index], kind) for index, kind in enumerate(named)]
    classes = [labels(z[:, index], kind) for index, kind in enumerate(named)]

    def gap(index: int, values: Array) -> float:
        if numeric[index]:
            table = np.square(correlations(z[tested, index : index + 1], values[tested]))[0]
            found = np.append(table, 0.0) if len(table) == 1 else table
        else:
            found = _threshold_accuracies(values[fit], classes[index][fit], values[tested], classes[index][tested])
        second, best = np.sort(found)[-2:]
        return float(best - second)

    def score(values: Array) -> Array:
        return np.array([gap(index, values) for index in range(len(named))])

    per_factor = score(h)
    return Score(float(per_factor.mean()), chance_level(score, h.shape, seed, draws=2), tuple(map(float, per_factor)))


def _checked(factors: Any, codes: Any, train: int, test: int) -> tuple[Array, Array]:
    _checks.at_least_one("train", train)
    _checks.at_least_one("test", test)
    return matching_samples(factors, codes, at_least=LEAST_SAMPLES)


def _explicitness(x: Array, y: Labels, x_test: Array, y_test: Labels) -> float:
    """The mean of 2 AUC - 1 over classes that have members and others in both parts."""
    from scipy.stats import rankdata

    count = int(max(y.max(), y_test.max())) + 1
    members = np.bincount(y_test, minlength=count)
    known = np.flatnonzero((np.bincount(y, minlength=count) > 0) & (members > 0) & (members < len(y_test)))
    if not len(known):
        return 0.0
    ranks = rankdata(class_scores(x, np.eye(count)[y][:, known], x_test, loss="each"), axis=0)
    inside = np.eye(count, dtype=bool)[y_test][:, known]
    size = inside.sum(axis=0)
    area = ((ranks * inside).sum(axis=0) - size * (size + 1) / 2) / (size * (len(y_test) - size))
    return float((2 * area - 1).mean())


def _threshold_accuracies(x: Array, y: Labels, x_test: Array, y_test: Labels) -> Array:
    """The accuracy of each code, averaged over classes; a single code is followed by a constant one."""
    present = np.unique(y_test)
    found = []
    for code, code_test in zip(x.T, x_test.T, strict=True):
        order, limits = _thresholds(code, y)
        right = order[np.searchsorted(limits, code_test, side="left")] == y_test
        found.append(np.mean([right[y_test == label].mean() for label in present]))
    return np.array(found if len(found) > 1 else [*found, 1 / len(present)])


def _thresholds(code: Array, y: Labels) -> tuple[Labels, Array]:
    """Classes in the order of their mean code, and the limits between neighbours."""
    present, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    means = np.bincount(inverse, code) / counts
    order = np.argsort(means, kind="stable")
    members = [code[inverse == label] for label in order]
    limits = [_limit(low, high) for low, high in pairwise(members)]
    return present[order], np.maximum.accumulate(np.array(limits))


def _limit(low: Array, high: Array) -> float:
    """Where to cut so that the two classes, weighted alike, are confused least: half-way between two values."""
    values = np.concatenate([low, high])
    weights = np.concatenate([np.full(len(low), 1 / len(low)), np.full(len(high), -1 / len(high))])
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(weights[order])[:-1]
    gaps = values[1:] > values[:-1]
    if not gaps.any():
        return float(values[0])
    best = int(np.argmax(np.where(gaps, below, -np.inf)))
    return float((values[best] + values[best + 1]) / 2)
