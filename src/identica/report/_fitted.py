"""What a page needs of an estimator and the data that it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica.attribution import attribute
from identica.estimator import ContrastiveICA
from identica.validation import partner_differences

__all__ = ["Fitted"]

_NAMES = 12
_PARTNERS = ("X_pos", "pairs", "labels")


@final
class Fitted:
    """An estimator with its data.

    Args:
        estimator: What was fitted, or a pipeline that ends in it.
        X: Observations.
        trials: A label for each of them, or None.
        partners: `X_pos`, `pairs` or `labels`, as `fit` had them; None for those that were not given.
    """

    def __init__(self, estimator: Any, X: Any, trials: Any, partners: Mapping[str, Any]) -> None:
        steps = [step for _, step in estimator.steps] if hasattr(estimator, "named_steps") else [estimator]
        *front, self.model = steps
        for name in partners:
            _checks.choice("argument", name, _PARTNERS)
        self.partners = {name: value for name, value in partners.items() if value is not None}
        self.X, self.given = X, trials
        for step in front:
            if step not in (None, "passthrough"):
                self.X = step.transform(self.X)
                if "X_pos" in self.partners:
                    self.partners["X_pos"] = step.transform(self.partners["X_pos"])
        known = {"trials": trials} if isinstance(self.model, ContrastiveICA) and trials is not None else {}
        codes = np.asarray(self.model.transform(self.X, **known))
        self.trials: NDArray[Any] | None = None if trials is None else np.asarray(trials)
        if codes.ndim == 3:  # trials × time
            self.trials = np.repeat(np.arange(1, len(codes) + 1), codes.shape[1])
        self.codes = codes.reshape(-1, codes.shape[-1])

    def measured(self) -> dict[str, Any]:
        """How partners differ, where they are known, and which channels components listen to."""
        if not isinstance(self.model, ContrastiveICA):
            return {}
        paired = bool(self.partners) or self.model.lag is not None
        series = self.model.lag is not None or "labels" in self.partners
        trials = self.given if series else None
        return {
            "differences": partner_differences(self.model, self.X, trials=trials, **self.partners) if paired else None,
            "attribution": attribute(self.model, self.X, self.given) if np.ndim(self.X) < 4 else None,
        }

    def facts(self, time: Any) -> dict[str, Any]:
        """What was fitted, in words."""
        shape = np.shape(self.X)
        found: dict[str, Any] = {"rows": len(self.codes)}
        if len(shape) == 4:
            found["pictures"] = " × ".join(map(str, shape[1:]))
        else:
            found["columns used"] = self._columns(shape[-1])
        if isinstance(self.model, ContrastiveICA):
            found |= {"pairs fitted": self.model.n_pairs_, "pairs held out": self.model.n_held_out_pairs_}
            if self.model.lag is not None:
                found["partners"] = f"rows {self.model.lag} apart"
        if self.trials is not None:
            found["trials"] = int(np.count_nonzero(self.trials[1:] != self.trials[:-1]) + 1)
        if time is not None:
            step = float(np.median(np.abs(np.diff(np.asarray(time, dtype=np.float64).ravel()))))
            found["sampling rate"] = f"{1 / step:.4g} a second" if step > 0 else "–"
        return found

    def _columns(self, count: int) -> str:
        """How many, and their names if they have some."""
        names = [str(name) for name in getattr(self.X, "columns", [])]
        if not names:
            return str(count)
        more = f", … and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        return f"{count}: {', '.join(names[:_NAMES])}{more}"
