"""Do partners differ as the fitted law says? Their differences in each component, against draws from the law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from identica import _observing, _planning
from identica._pairing import Partners
from identica.encoders import encode
from identica.estimator import ContrastiveICA
from identica.learners import fitted_law
from identica.spaces import Box, Real, Space, Sphere, parse_space
from identica.training import resolve_device

__all__ = ["Differences", "partner_differences"]

Array = NDArray[np.float64]

_MOST_PAIRS, _DRAWS = 4096, 8
_LEVELS = np.concatenate([[0.005, 0.01], np.linspace(0.02, 0.98, 49), [0.99, 0.995]])
# Noise as wide as this many boxes is uniform in one, and would be drawn again without end.
_WIDEST = 30.0


@final
@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of partners, component by component, beside what the fitted law says.

    Args:
        components: Numbers of the components; those that are spare are left out.
        levels: Of the quantiles, from 0 to 1.
        measured: Quantiles of z~ - z, [levels, components].
        expected: Those of draws from the fitted law around the same z.
        gaps: The largest distance of the two distribution functions, [components]: 0 if the law holds, at most 1.
        pairs: How many pairs were looked at.
        held_out: Whether these were held out from the fit.
    """

    components: tuple[int, ...]
    levels: Array
    measured: Array
    expected: Array
    gaps: Array
    pairs: int
    held_out: bool


def partner_differences(
    estimator: ContrastiveICA,
    X: Any,
    y: Any = None,
    *,
    X_pos: Any = None,
    pairs: Any = None,
    labels: Any = None,
    trials: Any = None,
) -> Differences:
    """Compare how partners differ with the law that was fitted, on held-out pairs if the fit held some out.

    Args:
        estimator: A fitted `ContrastiveICA`.
        X: The observations that it was fitted to, with their partners given in the same way; or others.
        y: X_pos, by place.
        X_pos: The partner of each row of X.
        pairs: Index pairs into X.
        labels: Of each row of X.
        trials: A label for each row of X.
    """
    check_is_fitted(estimator)
    observed = _observing.observe(estimator, X, reset=False, pairs=pairs)
    values, pairing = estimator._pairing(observed, Partners(y, X_pos, pairs, labels, trials), 0)
    split = _planning.split_pairs(pairing, estimator.validation_fraction, open_budget=_planning.is_open(estimator))
    chosen = split.fitted if split.held_out is None else split.held_out
    chosen = chosen[np.linspace(0, len(chosen) - 1, min(len(chosen), _MOST_PAIRS)).astype(int)]
    windows = estimator._windows(values, observed.trials(trials) if values is observed.values else None)
    rows, places = np.unique(chosen, return_inverse=True)
    codes = encode(estimator.encoder_, windows[torch.from_numpy(rows)], resolve_device(estimator.device))
    first, second = codes[torch.from_numpy(places.reshape(-1, 2))].unbind(dim=1)
    return _compared(estimator, first, second, held_out=split.held_out is not None)


def _compared(estimator: ContrastiveICA, first: Tensor, second: Tensor, *, held_out: bool) -> Differences:
    from scipy.stats import ks_2samp

    scales = torch.from_numpy(estimator.scales_)
    used = scales > 0
    space = _space(estimator.model_.space, int(used.sum()))
    law = fitted_law(estimator.model_, scales.clamp_min(1 / _WIDEST) * used if isinstance(space, Box) else scales)
    means = space.project(first[:, used]).repeat(_DRAWS, 1)
    drawn = law.sample(space, means, torch.Generator().manual_seed(0)) - means
    apart, drawn_apart = (second - first)[:, used].numpy(), drawn.numpy()
    gaps = [
        ks_2samp(apart[:, index], drawn_apart[:, index], method="asymp").statistic for index in range(apart.shape[1])
    ]
    measured, expected = (np.quantile(one, _LEVELS, axis=0) for one in (apart, drawn_apart))
    components = tuple(used.nonzero().flatten().tolist())
    return Differences(components, _LEVELS, measured, expected, np.array(gaps), len(apart), held_out)


def _space(space: Space, used: int) -> Space:
    """The space of the components that are used; without some of them, codes are on no sphere."""
    if isinstance(space, Sphere) and used < space.dim:
        return Real(used)
    return parse_space(space.name, used)
