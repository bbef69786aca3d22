"""Codes along each axis, and what a decoder draws for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica import _checks
from identica._checks import InputError

__all__ = ["decoded_traversals", "moved_codes"]

_LOW, _HIGH = 0.02, 0.98


def moved_codes(codes: Any, start: Any = None, steps: int = 7) -> NDArray[np.float64]:
    """Codes along each axis from their 2 % to their 98 % quantile, [components, steps, components].

    Args:
        codes: Codes of a sample, [samples, components]: they tell the range of each.
        start: Where all other codes stay, [components]; their medians if not given.
        steps: Places along each axis, 2 or more.
    """
    values = np.asarray(codes, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise InputError(f"codes must have shape [samples, components], got {list(values.shape)}")
    _checks.at_least("steps", steps, 2)
    origin = np.median(values, axis=0) if start is None else np.asarray(start, dtype=np.float64)
    if origin.shape != values.shape[1:]:
        raise InputError(f"start must have shape [{values.shape[1]}], got {list(origin.shape)}")
    components = values.shape[1]
    moved = np.tile(origin, (components, steps, 1))
    low, high = np.quantile(values, [_LOW, _HIGH], axis=0)
    for component in range(components):
        moved[component, :, component] = np.linspace(low[component], high[component], steps)
    return moved


def decoded_traversals(
    decode: Callable[[Tensor], Tensor], codes: Any, start: Any = None, steps: int = 7
) -> NDArray[np.float32]:
    """Images that a decoder gives for moved codes, [components, steps, channels, height, width].

    Args:
        decode: From codes to images, such as the `decode` of a `VAELearner`.
        codes: As `moved_codes` has them.
        start: As `moved_codes` has it.
        steps: As `moved_codes` has them.
    """
    moved = moved_codes(codes, start, steps)
    with torch.no_grad():
        images = decode(torch.from_numpy(moved.reshape(-1, moved.shape[2])).float())
    found: NDArray[np.float32] = images.cpu().float().numpy()
    return found.reshape(*moved.shape[:2], *found.shape[1:])
