"""Scores by name: one table that records, tables, reports and progress bars read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from identica import _checks
from identica.metrics._inputs import matching_samples
from identica.metrics._kinds import Kinds, read_kinds
from identica.metrics.importances import dci
from identica.metrics.interventions import beta_vae, factor_vae
from identica.metrics.mutual import mig, modularity
from identica.metrics.prediction import explicitness, sap
from identica.metrics.scores import Score, linear_r2, mcc

__all__ = ["DEFAULT_SCORES", "SCORES", "NamedScore", "Scorer", "compute_scores", "quick_scores", "symbol"]


@final
@dataclass(frozen=True)
class NamedScore:
    """A score that can be asked for by name.

    Args:
        symbol: What a table calls it.
        compute: From true factors and codes, [samples, columns] each; to a score, or to several that share their work.
        settings: Passed on by keyword.
        part: Which of several scores it is.
        uses_kinds: Whether `kinds`, what the values of factors are, is passed on as well.
        quick: Whether it takes so little time that it is computed during training too.
    """

    symbol: str
    compute: Callable[..., Any]
    settings: tuple[tuple[str, Any], ...] = ()
    part: str | None = None
    uses_kinds: bool = True
    quick: bool = False


SCORES: dict[str, NamedScore] = {
    "r2": NamedScore("R²", linear_r2, quick=True),
    "mcc": NamedScore("MCC", mcc, uses_kinds=False, quick=True),
    "mcc_spearman": NamedScore("MCC (ranks)", mcc, (("correlation", "spearman"),), uses_kinds=False, quick=True),
    "beta_vae": NamedScore("BetaVAE", beta_vae),
    "factor_vae": NamedScore("FactorVAE", factor_vae),
    "mig": NamedScore("MIG", mig, quick=True),
    "dci": NamedScore("DCI", dci, part="disentanglement"),
    "dci_completeness": NamedScore("DCI completeness", dci, part="completeness"),
    "dci_informativeness": NamedScore("DCI informativeness", dci, part="informativeness"),
    "modularity": NamedScore("Modularity", modularity, quick=True),
    "explicitness": NamedScore("Explicitness", explicitness),
    "sap": NamedScore("SAP", sap, quick=True),
}
"""All scores, by the names that records give them."""

DEFAULT_SCORES = ("r2", "mcc")
"""The scores that every run is given."""


@final
class Scorer:
    """Scores of the same factors and codes, one at a time; those that share their work do it once.

    Args:
        factors: [samples, factors].
        codes: [samples, outputs].
        kinds: One for each factor, as in `mig`.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=(100, 3))
        >>> round(Scorer(z, -z).score("mcc").value, 6)
        1.0
    """

    def __init__(self, factors: Any, codes: Any, kinds: Kinds = None) -> None:
        self._factors, self._codes, self._kinds = factors, codes, kinds
        z, _ = matching_samples(factors, codes)
        read_kinds(kinds, z)
        self._done: dict[tuple[Any, ...], Any] = {}

    def score(self, name: str) -> Score:
        """The score of this name."""
        named = SCORES[_checks.choice("score", name, SCORES)]
        key = named.compute, named.settings
        if key not in self._done:
            settings = dict(named.settings) | ({"kinds": self._kinds} if named.uses_kinds else {})
            self._done[key] = named.compute(self._factors, self._codes, **settings)
        found: Score = self._done[key] if named.part is None else getattr(self._done[key], named.part)
        return found


def compute_scores(names: Iterable[str], factors: Any, codes: Any, kinds: Kinds = None) -> dict[str, Score]:
    """The scores of these names; `kinds` says what the values of each factor are, as in `mig`."""
    chosen = [_checks.choice("score", name, SCORES) for name in names]
    scorer = Scorer(factors, codes, kinds)
    return {name: scorer.score(name) for name in chosen}


def quick_scores(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names whose scores take so little time that they are computed during training too."""
    return tuple(name for name in names if SCORES[_checks.choice("score", name, SCORES)].quick)


def symbol(name: str) -> str:
    """What a table calls a score; its name if it is not one of ours."""
    return SCORES[name].symbol if name in SCORES else name
