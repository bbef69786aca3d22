"""The basis that second-order statistics of pairs single out, where a model leaves a rotation open."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from identica._checks import InputError

__all__ = ["second_order_axes", "slow_directions"]


def second_order_axes(first: Tensor, second: Tensor, *, rotation: bool = False) -> Tensor:
    """The matrix W for which both covariances, of codes times W and of their partner differences, are diagonal.

    As in AMUSE and SOBI: independent factors have diagonal covariances at every lag, and if all ratios λ of the two
    variances differ, no other basis has. W solves D w = λ C w. Where two λ are equal within their error, the axes
    between them are arbitrary; that is said by a warning.

    Args:
        first: Codes z, [pairs, d].
        second: Codes z~ of their partners, [pairs, d].
        rotation: Whether W must be a rotation, as codes on a sphere need: then C is taken to be the same in all
            directions, as it is for points all over a sphere.

    Example:
        >>> z = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> noise = torch.randn(5000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        >>> turn = torch.tensor([[0.6, -0.8], [0.8, 0.6]], dtype=torch.float64)
        >>> found = turn @ second_order_axes(z @ turn, (z + torch.tensor([0.1, 0.4]) * noise) @ turn)
        >>> bool((found.abs().sort(dim=0).values[0] < 0.05).all())
        True
    """
    if first.ndim != 2 or first.shape != second.shape or len(first) <= first.shape[1]:
        raise InputError(f"codes must be [pairs, d] with more pairs than d, got {list(first.shape)}")
    from scipy.linalg import eigh

    pooled = torch.cat([first, second]).double()
    spread = torch.cov(pooled.T).reshape(first.shape[1], -1).numpy()
    spread = np.eye(len(spread)) if rotation else spread
    differences = torch.cov((second - first).double().T).reshape(first.shape[1], -1).numpy()
    ratios, axes = eigh(differences, spread)
    # The logarithm of a variance has an error of √(2 / n).
    gaps = torch.from_numpy(ratios).clamp_min(1e-300).log().diff()
    if len(gaps) and float(gaps.min()) < 4 * (2 / len(first)) ** 0.5:
        warnings.warn(
            "two components differ by the same width within its error: second-order axes between them are arbitrary",
            stacklevel=3,
        )
    return torch.from_numpy(axes)


def slow_directions(first: Tensor, second: Tensor, count: int, noise: float = 0.1) -> Tensor:
    """The `count` directions of unit variance in which partners differ least, as columns: linear slow features.

    They solve (D + 2 σ² I) w = λ (C + σ² I) w, as if noise of deviation σ were on every observation, so that directions
    of little variance cannot look slow by chance.

    Args:
        first: Observations, [pairs, d].
        second: Their partners, [pairs, d].
        count: How many; at most d.
        noise: σ.
    """
    from scipy.linalg import eigh

    pooled = torch.cat([first, second]).double()
    noisy = noise**2 * np.eye(first.shape[1])
    spread = torch.cov(pooled.T).reshape(noisy.shape).numpy()
    differences = torch.cov((second - first).double().T).reshape(noisy.shape).numpy()
    _, axes = eigh(differences + 2 * noisy, spread + noisy, subset_by_index=[0, count - 1])
    directions = torch.from_numpy(axes)
    return directions / (pooled @ directions).std(dim=0).clamp_min(1e-12)
