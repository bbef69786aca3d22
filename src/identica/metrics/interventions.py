"""Scores from batches in which one factor is held fixed: BetaVAE and FactorVAE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from identica import _checks
from identica.metrics._groups import DrawGroups, SharedRows, drawn, fixing, random_groups
from identica.metrics._inputs import Array, matching_samples
from identica.metrics._kinds import Kinds
from identica.metrics._linear import class_scores
from identica.metrics.scores import Score

__all__ = ["DrawGroups", "beta_vae", "beta_vae_of_draws", "factor_vae", "factor_vae_of_draws", "fixing"]

_AT_ONCE = 250
_CHANCE_VOTES = 2_000


def beta_vae(
    factors: Any,
    codes: Any,
    *,
    kinds: Kinds = None,
    train: int = 10_000,
    test: int = 5_000,
    batch: int = 64,
    seed: int = 0,
) -> Score:
    """BetaVAE score (Higgins et al. 2017): whether a linear classifier sees which factor pairs of samples share.

    A vote on factor k is the mean of |c(x) - c(x')| over a batch of pairs (x, x') with z_k = z'_k. The score is the
    accuracy of a linear classifier that tells k from the vote, on votes that it was not fitted on.

    Pairs are samples that share a value of the factor, or a bin of it where it is continuous or circular. Votes are
    shared equally among the factors.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`.
        train: Number of votes to fit on.
        test: Number of votes to score.
        batch: Number of pairs behind a vote.
        seed: Of the batches.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 4, size=(1000, 3))
        >>> round(beta_vae(z, z, train=300, test=300).value, 2)
        1.0
    """
    z, h = matching_samples(factors, codes)
    draw = SharedRows.of(z, kinds).draws(h)
    return beta_vae_of_draws(draw, z.shape[1], train=train, test=test, batch=batch, seed=seed)


def beta_vae_of_draws(
    draw: DrawGroups, factors: int, *, train: int = 10_000, test: int = 5_000, batch: int = 64, seed: int = 0
) -> Score:
    """BetaVAE score where observations of any factors can be drawn: see `beta_vae`, and `fixing` for the draws.

    Args:
        draw: Gives codes in groups that share a factor.
        factors: Number of factors.
        train: Number of votes to fit on.
        test: Number of votes to score.
        batch: Number of pairs behind a vote.
        seed: Of the batches.

    Example:
        >>> draw = fixing(lambda count, generator: generator.uniform(size=(count, 3)), lambda factors: 2 * factors)
        >>> round(beta_vae_of_draws(draw, 3, train=300, test=300).value, 2)
        1.0
    """

    def score(draw: DrawGroups, train: int, test: int, generator: Generator) -> Array:
        def votes(factor: int, count: int) -> Array:
            pairs = drawn(draw, factor, count * batch, 2, generator)
            return np.abs(pairs[:, 0] - pairs[:, 1]).reshape(count, batch, -1).mean(axis=1)

        fitted, shared = _votes(votes, factors, train)
        tested, truth = _votes(votes, factors, test)
        chosen = class_scores(fitted, np.eye(factors)[shared], tested, loss="softmax", penalty=0.1).argmax(axis=1)
        return _accuracies(chosen == truth, truth, factors)

    return _scored(score, draw, factors, train, test, batch, seed)


def factor_vae(
    factors: Any,
    codes: Any,
    *,
    kinds: Kinds = None,
    train: int = 10_000,
    test: int = 5_000,
    batch: int = 64,
    samples: int = 10_000,
    prune: float = 0.05,
    seed: int = 0,
) -> Score:
    """FactorVAE score (Kim & Mnih 2018): whether the code that varies least says which factor is fixed.

    A vote on factor k is argmin_i Var(c_i | z_k fixed) / Var(c_i), over a batch. Each code stands for the factor that
    most of its votes are on; the score is the part of other votes for which that is right.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`; continuous and circular ones are fixed to a bin.
        train: Number of votes that decide what a code stands for.
        test: Number of votes to score.
        batch: Number of samples behind a vote.
        samples: Number of samples behind Var(c_i).
        prune: Codes with less than this part of the largest deviation of a code are left out.
        seed: Of the batches.

    Example:
        >>> z = np.random.default_rng(0).integers(0, 4, size=(1000, 3))
        >>> round(factor_vae(z, z, train=300, test=300).value, 2)
        1.0
    """
    z, h = matching_samples(factors, codes)
    draw = SharedRows.of(z, kinds).draws(h)
    return factor_vae_of_draws(
        draw, z.shape[1], train=train, test=test, batch=batch, samples=samples, prune=prune, seed=seed
    )


def factor_vae_of_draws(
    draw: DrawGroups,
    factors: int,
    *,
    train: int = 10_000,
    test: int = 5_000,
    batch: int = 64,
    samples: int = 10_000,
    prune: float = 0.05,
    seed: int = 0,
) -> Score:
    """FactorVAE score where observations of any factors can be drawn: see `factor_vae`, and `fixing` for the draws.

    Args:
        draw: Gives codes in groups that share a factor.
        factors: Number of factors.
        train: Number of votes that decide what a code stands for.
        test: Number of votes to score.
        batch: Number of samples behind a vote.
        samples: Number of samples behind the variances without a fixed factor.
        prune: Codes with less than this part of the largest deviation of a code are left out.
        seed: Of the batches.
    """
    _checks.at_least("samples", samples, 2)
    _checks.not_negative("prune", prune)

    def score(draw: DrawGroups, train: int, test: int, generator: Generator) -> Array:
        variances = drawn(draw, None, samples, 1, generator)[:, 0].var(axis=0)
        active = (variances > 1e-24) & (variances >= prune**2 * variances.max())
        if not active.any():
            return np.zeros(factors)

        def votes(factor: int, count: int) -> Any:
            groups = drawn(draw, factor, count, batch, generator)[:, :, active]
            return (groups.var(axis=1) / variances[active]).argmin(axis=1)

        fitted, shared = _votes(votes, factors, train)
        tested, truth = _votes(votes, factors, test)
        counts = np.zeros((int(active.sum()), factors))
        np.add.at(counts, (fitted, shared), 1)
        return _accuracies(counts.argmax(axis=1)[tested] == truth, truth, factors)

    return _scored(score, draw, factors, train, test, batch, seed)


def _votes(votes: Callable[[int, int], Any], factors: int, count: int) -> tuple[Any, Any]:
    """Votes on each factor in turn, a few at a time so that large codes fit the memory, and the factors."""
    each = -(-count // factors)
    sizes = [min(_AT_ONCE, each - start) for start in range(0, each, _AT_ONCE)]
    found = [votes(factor, size) for factor in range(factors) for size in sizes]
    return np.concatenate(found), np.repeat(np.arange(factors), each)


def _accuracies(right: Any, truth: Any, factors: int) -> Array:
    return np.bincount(truth, right.astype(float), factors) / np.bincount(truth, minlength=factors)


def _scored(
    score: Callable[[DrawGroups, int, int, Generator], Array],
    draw: DrawGroups,
    factors: int,
    train: int,
    test: int,
    batch: int,
    seed: int,
) -> Score:
    for name, value, least in (("factors", factors, 1), ("train", train, 1), ("test", test, 1), ("batch", batch, 2)):
        _checks.at_least(name, value, least)
    per_factor = score(draw, train, test, np.random.default_rng(seed))
    generator = np.random.default_rng([seed, 1])
    outputs = drawn(draw, None, 1, 1, generator).shape[2]
    few = min(train, _CHANCE_VOTES), min(test, _CHANCE_VOTES)
    chance = score(random_groups(outputs), *few, generator).mean()
    return Score(float(per_factor.mean()), float(chance), tuple(map(float, per_factor)))
