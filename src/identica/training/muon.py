"""Muon for matrices, Adam for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from identica import _checks

__all__ = ["Muon", "orthogonalise"]

# Odd quintic whose iterates push all singular values towards 1 (Jordan et al., 2024).
_QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrix: Tensor, iterations: int = 5) -> Tensor:
    """Approximate U Vᵀ of the singular value decomposition of `matrix` by Newton–Schulz steps."""
    a, b, c = _QUINTIC
    wide = matrix.shape[0] <= matrix.shape[1]
    x = matrix if wide else matrix.T
    x = x / (x.norm() + 1e-12)
    for _ in range(iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x if wide else x.T


@final
class Muon(Optimizer):
    """Momentum with each matrix update orthogonalised, in the parameter's own precision.

    `torch.optim.Muon` works in bfloat16, which is many times slower on processors without native support for it.

    Args:
        parameters: Matrices, or kernels of convolutions.
        lr: Learning rate.
        momentum: Nesterov momentum.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float = 0.02, momentum: float = 0.95) -> None:
        super().__init__(parameters, {"lr": _checks.positive("lr", lr), "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Update every matrix that has a gradient."""
        if closure is not None:
            with torch.enable_grad():
                closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group["lr"], group["momentum"])

    def _update(self, parameter: Tensor, lr: float, momentum: float) -> None:
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        assert parameter.grad is not None
        buffer = state["momentum"].mul_(momentum).add_(parameter.grad)
        update = (parameter.grad + momentum * buffer).flatten(1)  # a convolution is a matrix over patches
        aspect = math.sqrt(max(1.0, update.shape[0] / update.shape[1]))
        parameter.add_(orthogonalise(update).view_as(parameter), alpha=-lr * aspect)
