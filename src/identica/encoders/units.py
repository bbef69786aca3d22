"""What comes behind a head: a width for each code, other axes, and the units that users read."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from identica._ranks import mean_over_ranks

__all__ = ["SMALLEST_WIDTH", "Stretch", "Turn", "Units", "unit_variance"]

SMALLEST_WIDTH = 1e-6
"""Codes that vary less are taken to vary so much, so that nothing is divided by zero."""


@final
class Units(nn.Module):
    """y ↦ (y - shift) · factor: the units that users read codes in; not trained."""

    shift: Tensor
    factor: Tensor

    def __init__(self, shift: Tensor, factor: Tensor) -> None:
        super().__init__()
        self.register_buffer("shift", shift)
        self.register_buffer("factor", factor)

    def forward(self, codes: Tensor) -> Tensor:
        """Codes in these units."""
        return (codes - self.shift) * self.factor


@final
class Turn(nn.Module):
    """y ↦ y W: codes in another basis; not trained.

    Args:
        matrix: W.
    """

    matrix: Tensor

    def __init__(self, matrix: Tensor) -> None:
        super().__init__()
        self.register_buffer("matrix", matrix)

    def forward(self, codes: Tensor) -> Tensor:
        """Turned codes."""
        return codes @ self.matrix


def unit_variance(codes: Tensor) -> Units:
    """The units in which these codes have mean 0 and variance 1."""
    return Units(codes.mean(dim=0), 1 / codes.std(dim=0).clamp_min(SMALLEST_WIDTH))


@final
class Stretch(nn.Module):
    """y_k ↦ y_k · exp(a_k - ā): codes of factors whose partners are close become longer than those of others.

    The a_k are learnt. The mean ā is taken out, so that the size of all codes together stays in the head's scale. Where
    partners are easily told from strangers, the loss alone would shrink a code to nothing to lengthen the others; so
    `pull` holds a_k near what the distances of partners say: for independent noise of one width each, the matched
    a_k is -log (E|u_k - v_k|^α)^(1/α), up to a constant.

    Args:
        dim: Number of codes.
        momentum: Weight of the latest batch in the running average of these distances.
    """

    distances: Tensor

    def __init__(self, dim: int, momentum: float = 0.02) -> None:
        super().__init__()
        self.momentum = momentum
        self.raw = nn.Parameter(torch.zeros(dim))
        self.register_buffer("distances", torch.zeros(dim))

    def logs(self) -> Tensor:
        """The logarithms of the factors, [dim]; their mean is 0."""
        return self.raw - self.raw.mean()

    def factors(self) -> Tensor:
        """What each code is multiplied by, [dim]."""
        return self.logs().exp()

    def pull(self, first: Tensor, second: Tensor, alpha: float) -> Tensor:
        """A penalty for factors far from what partners say; these are codes that are not stretched yet."""
        with torch.no_grad():
            moments = mean_over_ranks((first - second).abs().pow(alpha).mean(dim=0))
            logs = moments.clamp_min(SMALLEST_WIDTH**2).log() / alpha
            self.distances.lerp_(logs - logs.mean(), self.momentum)
        return (self.logs() + self.distances).square().sum()

    def forward(self, codes: Tensor) -> Tensor:
        """Stretched codes."""
        return codes * self.factors()
