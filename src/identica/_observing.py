"""How an estimator reads observations: rows, images, trials of a series, or an array on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data
from torch import Tensor

from identica import _checks, _large
from identica._checks import InputError
from identica.encoders import IMAGE_BACKBONES
from identica.sources import runs_of

__all__ = ["CHANNELS", "LAYOUTS", "Observed", "as_images", "as_numpy", "observe"]

LAYOUTS = ("auto", "images", "trials")
"""What three axes of an array may stand for."""

CHANNELS = ("first", "last")
"""Where images have their channels."""

_CHANNELS = (1, 3)


@final
@dataclass(frozen=True)
class Observed:
    """Observations as the fit sees them.

    Args:
        values: [rows, features] in float32, or images [samples, channels, height, width].
        runs: A number for each row that changes where a trial or a block that was read ends; None if nothing is known.
        shape: Of X without its last axis, if these are trials: what codes are brought to.
        rows: Which rows of X these are; None for all of them.
        count: How many rows X has.
    """

    values: Tensor
    runs: NDArray[np.int64] | None
    shape: tuple[int, ...] | None
    rows: NDArray[np.int64] | None
    count: int

    def along(self, name: str, given: Any) -> Any:
        """What goes along with the rows of X (labels, partners), for these rows."""
        values = as_numpy(given)
        if values is None or (self.shape is None and self.rows is None):
            return values
        if self.rows is not None:
            if len(values) != self.count:
                raise InputError(f"{name} must be one for each of the {self.count} rows of X, got {len(values)}")
            return _large.take(values, self.rows) if _large.is_on_disk(values) else np.asarray(values)[self.rows]
        array = np.asarray(values)
        if self.shape is not None and array.shape[: len(self.shape)] == self.shape:
            return array.reshape(self.count, *array.shape[len(self.shape) :])
        return array

    def trials(self, given: Any) -> Any:
        """Labels of trials for these rows: those that are given, those of the layout, and blocks that were read."""
        if self.shape is not None and given is not None:
            raise InputError("trials must be left out for X of shape [trials, time, channels], which says them itself")
        if self.runs is None or given is None:
            return self.runs if given is None else as_numpy(given)
        labels = runs_of(len(self.values), self.along("trials", given))
        return labels * (int(self.runs.max()) + 1) + self.runs

    def pairs(self, given: Any) -> Any:
        """Index pairs into these rows."""
        values = as_numpy(given)
        if values is None or self.rows is None:
            return values
        found = np.searchsorted(self.rows, np.asarray(values)).clip(max=len(self.rows) - 1)
        return found[(self.rows[found] == values).all(axis=1)]


def observe(estimator: Any, X: Any, *, reset: bool, pairs: Any = None) -> Observed:
    """X as a fit or a transformation sees it, checked before any work.

    Args:
        estimator: Gets `n_features_in_` and `feature_names_in_`, or is held to them.
        X: What the user gave.
        reset: Whether this is a fit from scratch.
        pairs: Index pairs, if partners are given so.
    """
    X = as_numpy(X)
    rows = _large.rows_to_read(X, pairs)
    count = len(X) if rows is not None else 0
    if rows is not None:
        X = _large.take(X, rows)
    elif _large.is_on_disk(X) and not isinstance(X, np.ndarray):
        X = X[()]
    kind = _kind(estimator, X, reset=reset)
    shape = tuple(np.shape(X)[:2]) if kind == "trials" else None
    values = _values(estimator, X, kind, reset=reset)
    if reset:
        estimator.observation_shape_ = tuple(values.shape[1:])
    elif tuple(values.shape[1:]) != estimator.observation_shape_:
        raise InputError(
            f"X must have observations of shape {list(estimator.observation_shape_)}, got {list(values.shape[1:])}"
        )
    _checks.finite("X", values)
    runs = None
    if shape is not None:
        runs = np.repeat(np.arange(shape[0], dtype=np.int64), shape[1])
    elif rows is not None and pairs is None:
        runs = np.concatenate([[0], np.cumsum(np.diff(rows) != 1)]).astype(np.int64)
    return Observed(values, runs, shape, rows, count or len(values))


def as_numpy(values: Any) -> Any:
    """A tensor, on any device and with or without a gradient, as an array; anything else as it is."""
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


def as_images(name: str, values: Any, channels: str = "first") -> Tensor:
    """Images, with or without an axis of channels, as [samples, channels, height, width]; bytes stay bytes."""
    array = np.asarray(as_numpy(values))
    if array.ndim == 3:
        array = array[:, None]
    elif array.ndim == 4 and channels == "last":
        array = np.moveaxis(array, 3, 1)
    if array.ndim == 4 and channels == "first" and array.shape[1] not in _CHANNELS and array.shape[3] in _CHANNELS:
        raise InputError(
            f"{name} must be images [samples, channels, height, width], got {list(array.shape)}, with channels "
            f"last: give channels='last', or np.moveaxis({name}, 3, 1)"
        )
    if array.ndim != 4 or array.shape[1] not in _CHANNELS or 0 in array.shape:
        raise InputError(
            f"{name} must be images [samples, channels, height, width] with 1 or 3 channels, got {list(array.shape)}"
        )
    if array.dtype == np.uint8:
        return torch.from_numpy(np.ascontiguousarray(array))
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be images of real numbers, got {array.dtype}")
    return torch.from_numpy(array.astype(np.float32))


def _kind(estimator: Any, X: Any, *, reset: bool) -> str:
    """What X is: `rows`, `images` or `trials`."""
    axes = int(getattr(X, "ndim", 0)) or np.asarray(X).ndim
    if not reset and axes == 3:
        return "images" if len(estimator.observation_shape_) == 3 else "trials"
    named = isinstance(estimator.encoder, str) and estimator.encoder != "auto"
    for_images = named and estimator.encoder in IMAGE_BACKBONES
    if axes == 3 and estimator.layout == "trials":
        return "trials"
    if for_images or (estimator.layout == "images" and axes != 2):
        return "images"
    if axes < 3:
        return "rows"
    shape = list(np.shape(X))
    if axes == 3 and np.asarray(X).dtype != np.uint8:
        raise InputError(
            f"X of shape {shape} may be trials or images: give layout='trials' for [trials, time, channels], or "
            "layout='images' for [samples, height, width]"
        )
    if named:
        raise InputError(
            f"encoder {estimator.encoder!r} takes rows [samples, features], got X of shape {shape}: for images give "
            f"encoder='auto', {', '.join(map(repr, IMAGE_BACKBONES))}"
        )
    return "images"


def _values(estimator: Any, X: Any, kind: str, *, reset: bool) -> Tensor:
    try:
        if kind == "images":
            images = as_images("X", X, estimator.channels)
            validate_data(estimator, images.numpy(), reset=reset, skip_check_array=True)
            return images
        array = validate_data(
            estimator,
            np.asarray(X).reshape(-1, np.shape(X)[-1]) if kind == "trials" else X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"X cannot be used: {' '.join(str(error).split())}") from None
    values = torch.from_numpy(np.array(array, dtype=np.float32))
    if reset:
        _check_varies(estimator, _checks.finite("X", values))
    return values


def _check_varies(estimator: Any, values: Tensor) -> None:
    """Refuse columns that never change: they tell nothing, and to whiten them divides by zero."""
    constant = (values == values[0]).all(dim=0).nonzero().flatten()
    if len(constant):
        number = int(constant[0])
        names = getattr(estimator, "feature_names_in_", None)
        called = f"column {number} (counted from 0)" if names is None else f"column {names[number]!r}"
        raise InputError(f"X must vary, but {called} is always {float(values[0, number]):g}: leave it out")
