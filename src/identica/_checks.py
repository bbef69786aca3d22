"""Wording of common input errors, in one place."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "DivergenceError",
    "InputError",
    "LostRankError",
    "at_least",
    "at_least_one",
    "choice",
    "column",
    "columns",
    "finite",
    "not_negative",
    "positive",
    "positive_each",
    "seed",
    "suggestion",
    "whole",
]


_SEEDS = 2**63


class InputError(ValueError):
    """The caller gave something that cannot be used; the message says what, and what can."""


class DivergenceError(RuntimeError):
    """The loss became NaN or infinite; training ended early."""


class LostRankError(RuntimeError):
    """Another process of the same training has died."""


def positive(name: str, value: float) -> float:
    """Return `value` if it is a finite number above zero."""
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


def positive_each(name: str, values: float | tuple[float, ...]) -> float | tuple[float, ...]:
    """Return one number or a tuple of them if all are finite and above zero."""
    if not isinstance(values, tuple):
        return positive(name, values)
    if not values:
        raise InputError(f"{name} must hold at least one number, got none")
    return tuple(positive(f"each {name}", value) for value in values)


def not_negative(name: str, value: float) -> float:
    """Return `value` if it is zero or a finite number above it."""
    if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
        raise InputError(f"{name} must be 0 or a finite number above it, got {value!r}")
    return float(value)


def seed(name: str, value: int) -> int:
    """Return `value` if it is a whole number that random generators take."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _SEEDS:
        raise InputError(f"{name} must be a whole number from 0 to 2^63 - 1, got {value!r}")
    return value


def at_least_one(name: str, value: int) -> int:
    """Return `value` if it is a whole number of one or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}")
    return value


def at_least(name: str, value: int, least: int) -> int:
    """Return `value` if it is a whole number of `least` or more."""
    if at_least_one(name, value) < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    return value


def whole(value: Any) -> Any:
    """A whole number of numpy's as one of Python's; anything else as it is."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def choice(name: str, value: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of `allowed`; otherwise suggest the nearest."""
    options = list(allowed)
    if value in options:
        return value
    raise InputError(f"unknown {name} {value!r}: {suggestion(value, options)}allowed: {', '.join(options)}")


def column(name: str, value: int, allowed: Sequence[Any]) -> int:
    """Return `value` if it is the number of one of the columns."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(allowed):
        raise InputError(f"{name} must be a whole number from 0 to {len(allowed) - 1}, got {value!r}")
    return value


def suggestion(value: str, options: Iterable[str]) -> str:
    """A question that names the option nearest to what was written, or nothing if none is near."""
    near = difflib.get_close_matches(str(value), list(options), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}? " if near else ""


def columns(name: str, points: Tensor, dim: int) -> Tensor:
    """Return `points` if it is a [count, dim] tensor."""
    if points.ndim != 2 or points.shape[1] != dim:
        raise InputError(f"{name} must have shape [count, {dim}], got {_shape(points.shape)}")
    return points


def finite(name: str, points: Tensor) -> Tensor:
    """Return `points` if it holds neither NaN nor infinity."""
    import torch

    bad = int((~torch.isfinite(points)).sum())
    if bad:
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite of {points.numel()} values")
    return points


def _shape(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
