"""What a network sees of a series at one time: the samples around it."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["stack_windows"]


def stack_windows(values: Tensor, runs: NDArray[np.int64], window: int) -> Tensor:
    """Rows t - w // 2, …, t + (w - 1) // 2 side by side, [rows, w · features].

    No window leaves its run: at the ends of a run its first or last row is repeated.

    Args:
        values: A series, [rows, features].
        runs: A number for each row, as `runs_of` gives it.
        window: w.

    Example:
        >>> stack_windows(torch.arange(4.0)[:, None], np.array([0, 0, 0, 1]), 3)
        tensor([[0., 0., 1.],
                [0., 1., 2.],
                [1., 2., 2.],
                [3., 3., 3.]])
    """
    if window == 1:
        return values
    count = len(values)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(runs)) + 1, [count]])
    lengths = np.diff(starts)
    first, last = np.repeat(starts[:-1], lengths), np.repeat(starts[1:] - 1, lengths)
    wanted = np.arange(count)[:, None] + np.arange(window) - window // 2
    rows = np.clip(wanted, first[:, None], last[:, None])
    return values[torch.from_numpy(rows)].reshape(count, -1)
