"""Partners that a pipeline has left as they were while it changed the observations: no factors come of that."""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor

from identica._checks import InputError

__all__ = ["check_same_scale"]

_INSTEAD = "in a Pipeline, the steps in front change X alone: put all observations into X, and pass pairs= or lag="
# Rows and lags that are looked at for a series, and the part of the variance that a linear map may miss in it.
_ROWS, _LAGS, _MOST_FEATURES, _UNEXPLAINED = 2000, 20, 256, 1e-6
_EXACT = 1e-4
# In deviations of X and as ratios of deviations: what is refused behind a scaler, and what is warned of elsewhere.
_SHIFT, _STRETCH = 0.1, 0.25
_WARNED_SHIFT, _WARNED_STRETCH = 0.5, 0.7


def check_same_scale(values: Tensor, positives: Tensor) -> None:
    """Refuse partners on another scale than X where a step in front is sure to be the reason; warn where it may be."""
    if _is_changed_series(values, positives):
        raise InputError(f"X_pos is a later part of X but for a linear map that X alone has passed; {_INSTEAD}")
    deviation = values.std(dim=0).clamp_min(1e-12)
    shift = float(((positives.mean(dim=0) - values.mean(dim=0)).abs() / deviation).max())
    stretch = float((positives.std(dim=0) / deviation).log().abs().max())
    if _is_standardised(values) and not _is_standardised(positives) and (shift > _SHIFT or stretch > _STRETCH):
        raise InputError(f"X is standardised (mean 0, deviation 1) and X_pos is not; {_INSTEAD}")
    if shift > _WARNED_SHIFT or stretch > _WARNED_STRETCH:
        warnings.warn(
            f"X_pos is on another scale than X: means differ by up to {shift:.2g} deviations, deviations by a factor "
            f"of up to {math.exp(stretch):.2g}; {_INSTEAD}",
            stacklevel=6,
        )


def _is_standardised(values: Tensor) -> bool:
    """Whether every column has mean 0 and deviation 1, as a scaler leaves it."""
    means, deviations = values.double().mean(dim=0), values.double().std(dim=0, correction=0)
    return bool((means.abs() < _EXACT).all()) and bool(((deviations - 1).abs() < _EXACT).all())


def _is_changed_series(values: Tensor, positives: Tensor) -> bool:
    """Whether row i of X_pos is row i + lag of X behind a linear map that is not the identity."""
    count, features = values.shape
    rows = min(_ROWS, count)
    if features > _MOST_FEATURES:
        return False
    rows_at = {lag: (values[lag:rows].double(), positives[: rows - lag].double()) for lag in range(1, _LAGS + 1)}
    looked_at = [halves for halves in rows_at.values() if len(halves[0]) >= 2 * features + 4]
    if any(_equal(later, partners) for later, partners in looked_at):
        return False  # a series as it should be
    return any(_linear(later, partners) for later, partners in looked_at)


def _equal(later: Tensor, partners: Tensor) -> bool:
    return bool(((later - partners).abs().amax(dim=0) <= _EXACT * partners.std(dim=0)).all())


def _linear(later: Tensor, partners: Tensor) -> bool:
    """Whether the best linear map from one to the other misses nothing."""
    centred, wanted = later - later.mean(dim=0), partners - partners.mean(dim=0)
    found = centred @ torch.linalg.lstsq(centred, wanted, driver="gelsd").solution
    return float((wanted - found).square().sum()) <= _UNEXPLAINED * float(wanted.square().sum())
