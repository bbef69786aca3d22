"""Who is whose partner, by the one way that a user gave; checked once, before any work, with one-line errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_array
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica._observing import Observed, as_images, as_numpy
from identica._scales import check_same_scale
from identica.sources import IndexPairing, LabelPairing, LagPairing, Pairing

__all__ = ["Partners", "check_enough_pairs", "components", "make_pairs"]

_LEAST_PAIRS, _LEAST_OF_MANY_FEATURES = 8, 20


class Partners(NamedTuple):
    """What `fit` and `score` take beside X.

    Args:
        y: The partner of each row, by place.
        X_pos: The same, by name.
        pairs: Index pairs.
        labels: Of each row.
        trials: A label for each row of a time series.
        rows: The number that `pairs` calls each row by.
    """

    y: Any = None
    X_pos: Any = None
    pairs: Any = None
    labels: Any = None
    trials: Any = None
    rows: Any = None


def make_pairs(
    observed: Observed, given: Partners, lags: tuple[int, ...] | None, seed: int, channels: str = "first"
) -> tuple[Tensor, Pairing]:
    """All observations, and who is whose partner, by the one way that was given.

    Args:
        observed: X.
        given: What came beside it.
        lags: Of a time series; with labels, the farthest a partner may be.
        seed: Of the choice among equal labels.
        channels: Where images have their channels.
    """
    values, count = observed.values, len(observed.values)
    y, labels = as_numpy(given.y), observed.along("labels", given.labels)
    if y is not None and (lags is not None or labels is not None) and np.asarray(y).ndim == 1:
        y = None  # a target that scikit-learn's tools pass along
    if y is not None and given.X_pos is not None:
        raise InputError("X_pos was given twice, by place and by name")
    X_pos = y if given.X_pos is None else given.X_pos
    _check_one_way(X_pos, given, lags)
    if given.pairs is not None:
        return values, IndexPairing(count, _index_pairs(observed, given.pairs, given.rows))
    if labels is not None:
        if np.ndim(labels) == 0 or len(np.asarray(labels)) != count:
            raise InputError(f"labels must be one for each of the {count} samples, got shape {list(np.shape(labels))}")
        within = None if lags is None else max(lags)
        return values, LabelPairing(labels, trials=observed.trials(given.trials), within=within, seed=seed)
    if lags is not None:
        return values, LagPairing(count, lags, observed.trials(given.trials))
    positives = _partners(values, observed.along("X_pos", X_pos), channels)
    return torch.cat([values, positives]), IndexPairing(2 * count, np.arange(2 * count).reshape(2, count).T)


def _check_one_way(X_pos: Any, given: Partners, lags: tuple[int, ...] | None) -> None:
    ways = (("X_pos", X_pos), ("pairs", given.pairs), ("labels", given.labels), ("lag", lags))
    found = [name for name, value in ways if value is not None]
    if len(found) != 1 and found != ["labels", "lag"]:
        raise InputError(
            f"give positive pairs in one way: X_pos, pairs, lag or labels; got {' and '.join(found) or 'none'}"
        )
    if given.trials is not None and lags is None and given.labels is None:
        raise InputError(f"trials needs lag, the distance of partners within a trial; got trials with {found[0]}")
    if given.rows is not None and given.pairs is None:
        raise InputError(f"rows needs pairs, which calls rows of X by these numbers; got rows with {found[0]}")


def _index_pairs(observed: Observed, pairs: Any, rows: Any) -> Any:
    """Index pairs [pairs, 2] into the rows that there are; those with a half elsewhere are left out if rows are named.

    As [2, pairs] they are taken too: scikit-learn cuts whatever is as long as X along with it, and 2 is not.
    """
    found = np.asarray(as_numpy(pairs))
    if found.ndim == 2 and found.shape[0] == 2 and found.shape[1] != 2:
        found = found.T
    if rows is not None:
        names = np.asarray(as_numpy(rows))
        if names.shape != (observed.count,) or not np.issubdtype(names.dtype, np.integer):
            raise InputError(f"rows must be one whole number for each of the {observed.count} samples, got {names!r}")
        order = np.argsort(names, kind="stable")
        place = np.searchsorted(names, found, sorter=order).clip(max=len(names) - 1)
        known = (names[order][place] == found).all(axis=1)
        if not known.any():
            raise InputError(f"pairs must have both halves among the {len(names)} rows, got none that has")
        found = order[place][known]
    return observed.pairs(found)


def components(
    observations: Tensor, wanted: int | None, directions: int | str | None, space: str, window: int = 1
) -> int:
    """The number of components: as wanted, or as many as features; refused if data or space do not allow it.

    Args:
        observations: What was given.
        wanted: The estimator's `n_components`.
        directions: The estimator's `pca_components`.
        space: The name of the space of the components.
        window: How many rows the encoder sees at a time.
    """
    features = math.prod(observations.shape[1:])
    if wanted is None and observations.ndim > 2:
        raise InputError("n_components must be given for images: the number of factors to look for")
    dim = features if wanted is None else int(wanted)
    if dim > features:
        raise InputError(f"n_components must be at most the number of features {features}, got {dim}")
    if directions == "auto":
        directions = None
    if directions is not None and observations.ndim > 2:
        raise InputError(f"pca_components must be left out for images, got {directions}")
    most = features * window
    if isinstance(directions, int) and not dim <= directions <= most:
        raise InputError(
            f"pca_components must be from the number of components {dim} to the number of features {most}, "
            f"got {directions}"
        )
    if space == "sphere" and dim < 2:
        raise InputError(f"n_components must be at least 2 on a sphere, got {dim}")
    return dim


def check_enough_pairs(observations: Tensor, indices: NDArray[np.int64], dim: int) -> None:
    """Refuse what cannot be learnt from: too few pairs for the components and features, or partners that are equal."""
    of = f" of {observations.shape[1]} features" if observations.ndim == 2 else ""
    least = max(_LEAST_PAIRS, 2 * dim, min(observations.shape[1], _LEAST_OF_MANY_FEATURES) if of else 0)
    if len(indices) < least:
        raise InputError(f"{dim} components{of} need at least {least} pairs, got {len(indices)} pairs")
    sample = indices[np.linspace(0, len(indices) - 1, min(len(indices), 1000)).astype(np.int64)]
    first, second = (observations[torch.from_numpy(half)] for half in sample.T.copy())
    if torch.equal(first, second):
        raise InputError("X_pos (or pairs) must differ from X: each observation is its own partner")


def _partners(values: Tensor, X_pos: Any, channels: str) -> Tensor:
    if values.ndim == 2:
        try:
            array = check_array(X_pos, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="X_pos")
        except (ValueError, TypeError) as error:
            raise InputError(f"X_pos cannot be used: {' '.join(str(error).split())}") from None
        positives = torch.from_numpy(np.array(array, dtype=np.float32))
    else:
        positives = as_images("X_pos", X_pos, channels)
    if positives.shape != values.shape:
        raise InputError(f"X_pos must have the shape of X, {list(values.shape)}, got {list(positives.shape)}")
    _checks.finite("X_pos", positives)
    if values.ndim == 2:
        check_same_scale(values, positives)
    return positives
