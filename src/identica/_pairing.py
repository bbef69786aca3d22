"""How an estimator reads observations and pairs: checked once, before any work, with one-line errors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica.encoders import IMAGE_BACKBONES
from identica.sources import IndexPairing, LabelPairing, LagPairing, Pairing

__all__ = ["check_enough_pairs", "components", "make_pairs", "observations"]

_LEAST_PAIRS = 4


def observations(estimator: Any, X: Any, *, reset: bool) -> Tensor:
    """X as a tensor: [samples, features] in float32, or [samples, channels, height, width] as it is.

    Args:
        estimator: Gets `n_features_in_` and `feature_names_in_`, or is held to them.
        X: What the user gave.
        reset: Whether this is a fit.
    """
    named = isinstance(estimator.encoder, str) and estimator.encoder != "auto"
    images = estimator.encoder in IMAGE_BACKBONES if named else _dimensions(X) > 2
    try:
        if images:
            values = _images("X", X)
            validate_data(estimator, values.numpy(), reset=reset, skip_check_array=True)
        else:
            array = validate_data(
                estimator,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
            values = torch.from_numpy(np.array(array, dtype=np.float32))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"X cannot be used: {' '.join(str(error).split())}") from None
    if reset:
        estimator.observation_shape_ = tuple(values.shape[1:])
    elif tuple(values.shape[1:]) != estimator.observation_shape_:
        raise InputError(
            f"X must have observations of shape {list(estimator.observation_shape_)}, got {list(values.shape[1:])}"
        )
    return _checks.finite("X", values)


def _dimensions(values: Any) -> int:
    """Of an array, a table or nested lists; 2 for what has no shape of its own, such as a sparse matrix."""
    return int(getattr(values, "ndim", 0)) or np.asarray(values).ndim


def make_pairs(
    values: Tensor, y: Any, X_pos: Any, pairs: Any, labels: Any, lags: tuple[int, ...] | None, trials: Any, seed: int
) -> tuple[Tensor, Pairing]:
    """All observations, and who is whose partner, by the one way that was given.

    Args:
        values: X.
        y: The partner of each row, by place.
        X_pos: The same, by name.
        pairs: Index pairs.
        labels: Of each row.
        lags: Of a time series; with labels, the farthest a partner may be.
        trials: A label for each row of a time series.
        seed: Of the choice among equal labels.
    """
    if y is not None and (lags is not None or labels is not None) and np.asarray(y).ndim == 1:
        y = None  # a target that scikit-learn's tools pass along
    if y is not None and X_pos is not None:
        raise InputError("X_pos was given twice, by place and by name")
    X_pos = y if X_pos is None else X_pos
    ways = (("X_pos", X_pos), ("pairs", pairs), ("labels", labels), ("lag", lags))
    given = [name for name, value in ways if value is not None]
    if len(given) != 1 and given != ["labels", "lag"]:
        raise InputError(
            f"give positive pairs in one way: X_pos, pairs, lag or labels; got {' and '.join(given) or 'none'}"
        )
    if trials is not None and lags is None and labels is None:
        raise InputError(f"trials needs lag, the distance of partners within a trial; got trials with {given[0]}")
    count = len(values)
    if pairs is not None:
        return values, IndexPairing(count, pairs)
    if labels is not None:
        if np.ndim(labels) == 0 or len(np.asarray(labels)) != count:
            raise InputError(f"labels must be one for each of the {count} samples, got shape {list(np.shape(labels))}")
        return values, LabelPairing(labels, trials=trials, within=None if lags is None else max(lags), seed=seed)
    if lags is not None:
        return values, LagPairing(count, lags, trials)
    positives = _partners(values, X_pos)
    return torch.cat([values, positives]), IndexPairing(2 * count, np.arange(2 * count).reshape(2, count).T)


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
    """Refuse what cannot be learnt from: fewer pairs than factors, or partners that never differ."""
    least = max(_LEAST_PAIRS, dim + 1)
    if len(indices) < least:
        raise InputError(f"{dim} components need at least {least} pairs, got {len(indices)} pairs")
    first, second = (observations[torch.from_numpy(half)] for half in indices[:1000].T.copy())
    if torch.equal(first, second):
        raise InputError("X_pos (or pairs) must differ from X: each observation is its own partner")


def _partners(values: Tensor, X_pos: Any) -> Tensor:
    if values.ndim == 2:
        try:
            array = check_array(X_pos, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="X_pos")
        except (ValueError, TypeError) as error:
            raise InputError(f"X_pos cannot be used: {' '.join(str(error).split())}") from None
        positives = torch.from_numpy(np.array(array, dtype=np.float32))
    else:
        positives = _images("X_pos", X_pos)
    if positives.shape != values.shape:
        raise InputError(f"X_pos must have the shape of X, {list(values.shape)}, got {list(positives.shape)}")
    _checks.finite("X_pos", positives)
    if values.ndim == 2:
        _warn_of_another_scale(values, positives)
    return positives


def _warn_of_another_scale(values: Tensor, positives: Tensor) -> None:
    """A scaler in a pipeline changes X and leaves X_pos as it was: no error, and no factors either."""
    deviation = values.std(dim=0).clamp_min(1e-12)
    shift = ((positives.mean(dim=0) - values.mean(dim=0)).abs() / deviation).max()
    stretch = (positives.std(dim=0) / deviation).log().abs().max()
    if shift > 3 or stretch > np.log(10):
        warnings.warn(
            "X_pos is on another scale than X. In a Pipeline, the steps in front change X alone: put all observations "
            "into X and pass pairs= instead",
            stacklevel=4,
        )


def _images(name: str, values: Any) -> Tensor:
    """Images, with or without an axis of channels, as [samples, channels, height, width]; bytes stay bytes."""
    array = np.asarray(values)
    if array.ndim == 3:
        array = array[:, None]
    if array.ndim != 4 or array.shape[1] not in (1, 3) or 0 in array.shape:
        raise InputError(
            f"{name} must be images [samples, channels, height, width] with 1 or 3 channels, got {list(array.shape)}"
        )
    if array.dtype == np.uint8:
        return torch.from_numpy(np.ascontiguousarray(array))
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be images of real numbers, got {array.dtype}")
    return torch.from_numpy(array.astype(np.float32))
