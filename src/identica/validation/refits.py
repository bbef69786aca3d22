"""Do fits from different seeds find the same components, up to what the theory leaves open?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from identica import _checks
from identica._agreement import STRONG, WEAK, agreement_of
from identica._checks import InputError
from identica._side_by_side import all_done
from identica._words import percent, with_article
from identica.estimator import ContrastiveICA
from identica.metrics import linear_r2, mcc
from identica.models import Ambiguity

__all__ = ["Consistency", "consistency", "refit"]

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Consistency:
    """How well runs agree, pair by pair; all scores are held out and lie between 0 and 1.

    Args:
        ambiguity: The map that may lie between two runs: a rotation, an affine map or a permutation.
        agreement: Mean correlation of the components of run i with run j's after the best such map, [runs, runs].
        r2: R² of the best affine map, [runs, runs].
        mcc: Mean correlation after the best permutation, [runs, runs].
        per_component: Agreement of each component of the first run, averaged over the other runs.
        mcc_chance: MCC of random codes of the same size.
    """

    ambiguity: Ambiguity
    agreement: Array
    r2: Array
    mcc: Array
    per_component: tuple[float, ...]
    mcc_chance: float

    @property
    def score(self) -> float:
        """Mean agreement over all pairs of different runs."""
        return _between_runs(self.agreement)

    @property
    def steady(self) -> int:
        """How many components come back in every run."""
        return sum(value >= STRONG for value in self.per_component)

    @property
    def verdict(self) -> str:
        """What the numbers mean, in words."""
        allowed = with_article(self.ambiguity)
        count = f"{self.steady} of {len(self.per_component)} components come back in every run"
        if self.score >= STRONG:
            return f"Refits agree up to {allowed}: {count}."
        if self.score >= WEAK:
            return f"Refits agree in part up to {allowed}: {count}; take the others with care."
        return f"Refits do not agree up to {allowed}: {count}. Do not read meaning into single components."

    def summary(self) -> dict[str, Any]:
        """The numbers as plain data, in percent."""
        return {
            "runs": len(self.agreement),
            "ambiguity": self.ambiguity,
            "agreement": percent(self.score),
            "r2": percent(_between_runs(self.r2)),
            "mcc": percent(_between_runs(self.mcc)),
            "mcc_chance": percent(self.mcc_chance),
            "per_component": [percent(value) for value in self.per_component],
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        numbers, allowed = self.summary(), with_article(self.ambiguity)
        components = "  ".join(f"{value:.1f}" for value in numbers["per_component"])
        return "\n".join(
            [
                f"agreement up to {allowed:<15}{numbers['agreement']:6.2f}   ({numbers['runs']} runs)",
                f"R² up to an affine map         {numbers['r2']:6.2f}",
                f"MCC up to a permutation        {numbers['mcc']:6.2f}   (chance {numbers['mcc_chance']:.2f})",
                f"by component                   {components}",
                self.verdict,
            ]
        )


def consistency(
    estimators: Any,
    X: Any = None,
    y: Any = None,
    *,
    ambiguity: Ambiguity | None = None,
    seeds: int = 5,
    n_jobs: int = -1,
    **pairs: Any,
) -> Consistency:
    """Compare runs by their codes of the same observations.

    Args:
        estimators: Fitted transformers (of any kind), folders of saved models, or arrays of codes; or one estimator,
            which is fitted anew for each seed.
        X: Observations to transform; not needed for arrays of codes.
        y: With one estimator: what its `fit` takes beside X, such as X_pos.
        ambiguity: The map allowed between runs; that of the estimators' assumption if not given, or a permutation.
        seeds: With one estimator: how many fits.
        n_jobs: With one estimator: how many fits side by side; -1 for one per core.
        **pairs: With one estimator: `X_pos`, `pairs`, `labels` or `trials` for its `fit`. `trials` also tell estimators
            that see windows of a series where these end.

    Example:
        >>> z = np.random.default_rng(0).normal(size=(500, 2))
        >>> round(consistency([z, -z[:, ::-1]]).score, 6)
        1.0
    """
    if isinstance(estimators, BaseEstimator):
        estimators = refit(estimators, X, y, seeds=seeds, n_jobs=n_jobs, **pairs)
    runs = [_opened(run) for run in estimators]
    if len(runs) < 2:
        raise InputError(f"estimators must be at least two runs, or one estimator to fit anew, got {len(runs)} run")
    allowed = _allowed(runs, ambiguity)
    codes = [_codes(run, X, pairs.get("trials")) for run in runs]
    shapes = {values.shape for values in codes}
    if len(shapes) > 1:
        raise InputError(f"estimators must give codes of one shape, got {sorted(shapes)}")
    return _compare(codes, allowed)


def refit(estimator: Any, X: Any, y: Any = None, *, seeds: int = 5, n_jobs: int = -1, **pairs: Any) -> list[Any]:
    """Fit clones of an estimator, or of a pipeline that ends in one, with random states counted from 0.

    Args:
        estimator: Anything with a `random_state` parameter; a `ContrastiveICA`, a `FastICA`, a pipeline.
        X: Observations.
        y: What `fit` takes beside X.
        seeds: How many fits.
        n_jobs: How many at a time; -1 for one per core.
        **pairs: Keyword arguments of `fit`.
    """
    if _checks.at_least_one("seeds", seeds) < 2:
        raise InputError(f"seeds must be at least 2 to compare runs, got {seeds}")
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
    if not names:
        raise InputError(f"estimator must have a random_state to vary, but {type(estimator).__name__} has none")
    copies = [clone(estimator).set_params(**dict.fromkeys(names, seed)) for seed in range(seeds)]
    return all_done(_fitted, [(one, X, y, pairs) for one in copies], n_jobs)


def _fitted(estimator: Any, X: Any, y: Any, pairs: dict[str, Any]) -> Any:
    return estimator.fit(X, y, **pairs)


def _opened(run: Any) -> Any:
    return ContrastiveICA.load(run) if isinstance(run, str | Path) else run


def _allowed(runs: Sequence[Any], asked: str | None) -> Ambiguity:
    if asked is not None:
        _checks.choice("ambiguity", asked, get_args(Ambiguity))
        return asked  # type: ignore[return-value]
    last_steps = [run[-1] if hasattr(run, "named_steps") else run for run in runs]
    found = {str(getattr(step, "ambiguity_", "permutation")) for step in last_steps}
    if len(found) > 1:
        raise InputError(
            f"estimators must share one assumption, got maps up to {' and '.join(map(with_article, sorted(found)))}"
        )
    return found.pop()  # type: ignore[return-value]


def _codes(run: Any, X: Any, trials: Any = None) -> Array:
    if not hasattr(run, "transform"):
        values = np.asarray(run, dtype=np.float64)
        if values.ndim != 2:
            raise InputError(f"codes must have shape [samples, components], got {list(values.shape)}")
        return values
    if X is None:
        raise InputError("X must be given: the observations whose codes are compared")
    known = {"trials": trials} if isinstance(run, ContrastiveICA) and trials is not None else {}
    return np.asarray(run.transform(X, **known), dtype=np.float64)


def _compare(codes: Sequence[Array], ambiguity: Ambiguity) -> Consistency:
    count = len(codes)
    agreement, r2, matched = np.ones((3, count, count))
    per_component, chance = [], 0.0
    for i in range(count):
        for j in range(count):
            if i == j:
                continue
            permuted = mcc(codes[i], codes[j])
            linear = linear_r2(codes[i], codes[j])
            matched[i, j], r2[i, j], chance = permuted.value, linear.value, permuted.chance
            each = agreement_of(ambiguity, codes[i], codes[j])
            agreement[i, j] = each.mean()
            if i == 0:
                per_component.append(each)
    means = np.mean(per_component, axis=0)
    return Consistency(ambiguity, agreement, r2, matched, tuple(map(float, means)), chance)


def _between_runs(table: Array) -> float:
    others = ~np.eye(len(table), dtype=bool)
    return float(table[others].mean())
