"""What data must be like before anything is learned from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError

__all__ = [
    "as_images",
    "as_labels",
    "as_matrix",
    "as_pairs",
    "check_columns_vary",
    "check_finite",
    "check_images_finite",
    "check_images_vary",
    "joined",
    "matched",
]

Array = NDArray[Any]


def as_matrix(label: str, array: Array) -> Array:
    """Numbers as [samples, columns] floats; one axis is one column."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"{label} must be real numbers, got dtype {array.dtype}")
    if array.ndim not in {1, 2} or 0 in array.shape:
        raise InputError(f"{label} must have shape [samples, columns], at least one of each, got {list(array.shape)}")
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    matrix = np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)
    return matrix[:, None] if matrix.ndim == 1 else matrix


def as_images(label: str, array: Array) -> Array:
    """Images [samples, height, width], with 1 or 3 channels before or after, as [samples, channels, height, width]."""
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise InputError(f"{label} must be images of dtype uint8 or float32, got dtype {array.dtype}")
    if array.ndim == 3:
        array = array[:, None]
    elif array.ndim == 4 and array.shape[1] not in {1, 3} and array.shape[3] in {1, 3}:
        array = np.moveaxis(array, 3, 1)
    if array.ndim != 4 or array.shape[1] not in {1, 3} or 0 in array.shape:
        raise InputError(
            f"{label} must have shape [samples, features], [samples, height, width], or with 1 or 3 channels "
            f"[samples, channels, height, width] or [samples, height, width, channels], got {list(array.shape)}"
        )
    # Half precision and foreign byte orders are storage formats: nothing computes in them.
    dtype = {1: np.uint8, 2: np.float32, 4: np.float32}.get(array.dtype.itemsize, np.float64)
    return np.ascontiguousarray(array, dtype=dtype)


def check_columns_vary(label: str, matrix: Array, names: Sequence[str]) -> None:
    """Raise unless there are two samples and all columns vary."""
    _check_count(label, matrix)
    constant = np.flatnonzero(np.ptp(matrix, axis=0) == 0)
    if constant.size:
        raise InputError(
            f"{label} must vary, but column {names[constant[0]]!r} is always {matrix[0, constant[0]]:g}: "
            "leave it out with --exclude"
        )


def check_finite(label: str, matrix: Array, names: Sequence[str]) -> None:
    """Raise if a number is NaN or infinite; rows are counted from 0."""
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        raise InputError(
            f"{label} has {len(bad)} missing or infinite values, the first in row {row} (counted from 0) of column "
            f"{names[column]!r}"
        )


def check_images_finite(label: str, images: Array) -> None:
    """Raise if a number is NaN or infinite."""
    bad = np.argwhere(~np.isfinite(images)) if images.dtype.kind == "f" else np.empty((0, 4))
    if len(bad):
        raise InputError(
            f"{label} has {len(bad)} missing or infinite values, the first in image {bad[0, 0]} (counted from 0)"
        )


def check_images_vary(label: str, images: Array) -> None:
    """Raise unless there are two images and they differ."""
    _check_count(label, images)
    if all(np.array_equal(images[0], image) for image in images[1:]):
        raise InputError(f"{label} must vary, but all {len(images)} images are the same")


def matched(label: str, observations: Array, positives: Array) -> tuple[Array, Array]:
    """Observations and their partners in one shape and one dtype."""
    if observations.shape != positives.shape:
        raise InputError(
            f"x and x_pos in {label} must have the same shape, "
            f"got {list(observations.shape)} and {list(positives.shape)}"
        )
    if observations.dtype.kind != positives.dtype.kind:  # bytes and floats have different scales
        raise InputError(
            f"x and x_pos in {label} must have the same dtype, got {observations.dtype} and {positives.dtype}"
        )
    dtype = np.result_type(observations, positives)
    return observations.astype(dtype, copy=False), positives.astype(dtype, copy=False)


def as_labels(label: str, values: Array, samples: int) -> Array:
    """One label for each sample: numbers, text or times."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (samples,):
        raise InputError(f"{label} must have one label for each of {samples} samples, got shape {list(values.shape)}")
    if values.dtype.kind not in "biufSUmM":
        raise InputError(f"{label} must be numbers or text, got dtype {values.dtype}")
    if values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", errors="replace")
    if values.dtype.kind in "fmM" and np.isnan(values).any():
        raise InputError(
            f"{label} must label every sample, but row {np.isnan(values).argmax()} (counted from 0) has none"
        )
    return values


def joined(label: str, columns: Mapping[str, Array]) -> Array | None:
    """Labels side by side, [samples] or [samples, k], all continuous or all discrete; None if there are none."""
    if not columns:
        return None
    continuous = {name: values.dtype.kind == "f" for name, values in columns.items()}
    if len(set(continuous.values())) > 1:
        real, discrete = (next(name for name in columns if continuous[name] == kind) for kind in (True, False))
        raise InputError(
            f"label must be all real numbers or all whole numbers and names, but in {label} {real!r} is real and "
            f"{discrete!r} is not"
        )
    kept = list(columns.values())
    if any(values.dtype.kind not in "biuf" for values in kept):
        kept = [values.astype(str) for values in kept]
    return kept[0] if len(kept) == 1 else np.stack(kept, axis=1)


def as_pairs(label: str, values: Array, samples: int) -> NDArray[np.int64]:
    """Row numbers of partners, [pairs, 2]."""
    if values.dtype.kind not in "iuf":
        raise InputError(f"{label} must be row numbers, got dtype {values.dtype}")
    if values.ndim != 2 or values.shape[1] != 2 or not len(values):
        raise InputError(f"{label} must have shape [pairs, 2] with at least one pair, got {list(values.shape)}")
    known = (values >= 0) & (values < samples) & (values == np.floor(values))
    if not known.all():
        pair, side = np.argwhere(~known)[0]
        raise InputError(
            f"{label} must be whole row numbers from 0 to {samples - 1}, got {values[pair, side]} in pair {pair} "
            "(counted from 0)"
        )
    return values.astype(np.int64)


def _check_count(label: str, samples: Array) -> None:
    if len(samples) < 2:
        raise InputError(f"{label} must have at least 2 samples, got {len(samples)}")
