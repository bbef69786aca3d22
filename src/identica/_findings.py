"""What a fitted estimator tells of itself, computed from what it keeps."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from identica.laws import AdditiveNoise, rounded
from identica.learners import Axes, Contrastive, fitted_law
from identica.models import Model
from identica.verdicts import Finding, Verdict, judge

__all__ = ["Findings"]

_COLOURS: dict[Finding, str] = {
    "supported": "#1b7a43",
    "in part": "#8a6100",
    "these pairs tell nothing": "#b3261e",
    "not checked": "#8a6100",
}


class Findings:
    """Properties of a fitted estimator."""

    axes: Axes
    model_: Model
    n_components_: int
    scales_: NDArray[np.float64]
    validation_score_: float | None
    validation_error_: float
    fitted_bits_: float | None
    agreement_: float | None

    @property
    def verdict_(self) -> Verdict:
        """What held-out pairs and refits say of this fit; prints as a sentence."""
        check_is_fitted(self)
        return judge(self.validation_score_, self.validation_error_, self.fitted_bits_, self.agreement_)

    @property
    def ambiguity_(self) -> str:
        """Up to which map the theory identifies the factors: a rotation, an affine map or a permutation."""
        check_is_fitted(self)
        return Contrastive(self.model_, self.axes).ambiguity

    @property
    def conditional_(self) -> str:
        """The fitted p(z~ | z), in units of the codes."""
        check_is_fitted(self)
        return str(rounded(fitted_law(self.model_, torch.from_numpy(self.scales_)), 3))

    @property
    def widths_(self) -> NDArray[np.float64]:
        """The width of p(z~ | z) in each component, in units of its code, as `conditional_` has it."""
        check_is_fitted(self)
        law = fitted_law(self.model_, torch.from_numpy(self.scales_))
        used = law.scale if isinstance(law, AdditiveNoise) else 1 / self.scales_.mean()  # κ = 1 / width²
        widths = np.full(self.n_components_, np.inf)
        widths[self.scales_ > 0] = used
        return widths

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: the verdict, if there is one, above scikit-learn's picture."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        picture = str(estimator_html_repr(self))
        if not hasattr(self, "scales_"):
            return picture
        colour = _COLOURS[self.verdict_.finding]
        return (
            f'<div style="border-left:6px solid {colour};padding:8px 14px;margin:0 0 8px;max-width:46em">'
            f'<b style="color:{colour}">{html.escape(self.verdict_.finding)}</b>: {html.escape(self.verdict_.reason)}'
            f"<br>partners differ by {html.escape(self.conditional_)}, in units of the codes</div>{picture}"
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
