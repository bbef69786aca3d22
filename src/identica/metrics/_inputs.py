"""One way in for arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError

__all__ = ["Array", "matching_samples"]

Array = NDArray[np.float64]


def matching_samples(latents: Any, codes: Any, *, at_least: int = 4) -> tuple[Array, Array]:
    """Both as [samples, columns] of finite numbers with varying columns, or a one-line error."""
    first, second = _matrix("latents", latents), _matrix("codes", codes)
    if first.shape[0] != second.shape[0]:
        raise InputError(
            f"latents and codes must have the same number of samples, got {first.shape[0]} and {second.shape[0]}"
        )
    if first.shape[0] < at_least:
        raise InputError(f"latents and codes must have at least {at_least} samples, got {first.shape[0]}")
    constant = np.flatnonzero(np.ptp(first, axis=0) == 0)
    if constant.size:
        raise InputError(f"latents must vary, but column {constant[0]} is constant")
    return first, second


def _matrix(name: str, values: Any) -> Array:
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {type(values).__name__} that cannot be read as such") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name} must have shape [samples, columns], got {list(array.shape)}")
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite of {array.size} values")
    return array
