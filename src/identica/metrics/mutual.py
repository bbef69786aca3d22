"""Scores from the mutual information of each code with each factor: MIG and modularity."""

from __future__ import annotations

from typing import Any

import numpy as np

from identica import _checks
from identica.metrics._chance import chance_level, some
from identica.metrics._inputs import Array, matching_samples
from identica.metrics._kinds import BINS, Kinds, Labels, code_bins, labels, read_kinds
from identica.metrics.scores import Score

__all__ = ["mig", "modularity", "mutual_information"]

# Less information than this is rounding: a constant code must tell nothing, not almost nothing.
_ROUNDING = 1e-12


def mig(
    factors: Any, codes: Any, *, kinds: Kinds = None, samples: int = 100_000, bins: int = BINS, seed: int = 0
) -> Score:
    """Mutual information gap (Chen et al. 2018): how much more the best code tells of a factor than the next.

    MIG = mean over k of (I(z_k; c_1) - I(z_k; c_2)) / H(z_k), with c_1 and c_2 the two codes that tell most of z_k.

    Codes are cut into bins of equal width, and so are continuous and circular factors.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: `continuous`, `circular`, `ordinal` or `categorical` for each factor; by default whole numbers of few
            distinct values are ordinal, others continuous. Circular factors are in radians, or whole steps of a turn.
        samples: How many are used at most.
        bins: Number of bins.
        seed: Of the choice of samples and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
        >>> round(mig(z, z).value, 2), round(mig(z, z[:, [0, 0, 1]]).value, 2)
        (1.0, 0.5)
    """
    classes, h = _prepared(factors, codes, kinds, samples, bins, seed)
    entropies = np.array([_information(column, column) for column in classes])

    def score(values: Array) -> Array:
        table = _table(classes, values, bins)
        ordered = np.sort(np.column_stack([table, np.zeros(len(table))]), axis=1)
        return np.divide(ordered[:, -1] - ordered[:, -2], entropies, out=np.zeros(len(table)), where=entropies > 0)

    per_factor = score(h)
    return Score(float(per_factor.mean()), chance_level(score, h.shape, seed, draws=2), tuple(map(float, per_factor)))


def modularity(
    factors: Any, codes: Any, *, kinds: Kinds = None, samples: int = 100_000, bins: int = BINS, seed: int = 0
) -> Score:
    """Modularity (Ridgeway & Mozer 2018): whether each code tells of one factor alone.

    modularity = mean over codes i of 1 - Σ_k≠b I_ik² / (I_ib² (K - 1)), with I_ik the mutual information of code i
    and factor k, and b the factor that it tells most of. A code that tells nothing at all counts as 0.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`.
        samples: How many are used at most.
        bins: Number of bins of codes, and of continuous and circular factors.
        seed: Of the choice of samples and of the random codes behind the chance level.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
        >>> round(modularity(z, z).value, 2), round(modularity(z, z @ [[1, 1], [1, -1]]).value, 1)
        (1.0, 0.0)
    """
    classes, h = _prepared(factors, codes, kinds, samples, bins, seed)

    def score(values: Array) -> Array:
        squares = np.square(_table(classes, values, bins))
        most = squares.max(axis=0)
        others = (squares.sum(axis=0) - most) / max(1, len(squares) - 1)
        return np.where(most > 0, 1 - np.divide(others, most, out=np.zeros_like(most), where=most > 0), 0.0)

    per_code = score(h)
    chance = chance_level(score, h.shape, seed, draws=2)
    return Score(float(per_code.mean()), chance, per_code=tuple(map(float, per_code)))


def mutual_information(factors: Any, codes: Any, *, kinds: Kinds = None, bins: int = BINS) -> Array:
    """Mutual information of each factor with each code in nats, [factors, outputs], from counts in bins."""
    classes, h = _prepared(factors, codes, kinds, np.shape(factors)[0], bins, 0)
    return _table(classes, h, bins)


def _prepared(factors: Any, codes: Any, kinds: Kinds, samples: int, bins: int, seed: int) -> tuple[list[Labels], Array]:
    """Classes of each factor, and the codes of the same samples."""
    _checks.at_least("bins", bins, 2)
    _checks.at_least("samples", samples, 4)
    z, h = matching_samples(factors, codes)
    named = read_kinds(kinds, z)
    rows = some(len(z), samples, seed)
    return [labels(z[:, index], kind, bins)[rows] for index, kind in enumerate(named)], h[rows]


def _table(classes: list[Labels], codes: Array, bins: int) -> Array:
    counted = [code_bins(column, bins) for column in codes.T]
    return np.array([[_information(factor, code) for code in counted] for factor in classes])


def _information(first: Labels, second: Labels) -> float:
    """I = Σ p(a, b) log(p(a, b) / (p(a) p(b))), from counts."""
    width = int(second.max()) + 1
    joint = np.bincount(first * width + second, minlength=(int(first.max()) + 1) * width).reshape(-1, width)
    p = joint / len(first)
    independent = np.outer(p.sum(axis=1), p.sum(axis=0))
    seen = p > 0
    found = float((p[seen] * np.log(p[seen] / independent[seen])).sum())
    return found if found > _ROUNDING else 0.0
