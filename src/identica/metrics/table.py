"""Scores by name: one table that records, tables, reports and progress bars read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from identica import _checks
from identica.metrics.scores import Score, linear_r2, mcc

__all__ = ["DEFAULT_SCORES", "SCORES", "NamedScore", "compute_scores", "symbol"]


@final
@dataclass(frozen=True)
class NamedScore:
    """A score that can be asked for by name.

    Args:
        symbol: What a table calls it.
        compute: From true factors and codes, [samples, columns] each.
    """

    symbol: str
    compute: Callable[[Any, Any], Score]


SCORES: dict[str, NamedScore] = {
    "r2": NamedScore("R²", linear_r2),
    "mcc": NamedScore("MCC", mcc),
    "mcc_spearman": NamedScore("MCC (ranks)", functools.partial(mcc, correlation="spearman")),
}
"""All scores, by the names that records give them."""

DEFAULT_SCORES = ("r2", "mcc")
"""The scores that every run is given."""


def compute_scores(names: Iterable[str], factors: Any, codes: Any) -> dict[str, Score]:
    """The scores of these names."""
    chosen = {name: SCORES[_checks.choice("score", name, SCORES)] for name in names}
    return {name: score.compute(factors, codes) for name, score in chosen.items()}


def symbol(name: str) -> str:
    """What a table calls a score; its name if it is not one of ours."""
    return SCORES[name].symbol if name in SCORES else name
