"""Noise on what a network sees while it is trained, against learning few pairs by heart."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

__all__ = ["InputNoise"]


@final
class InputNoise(nn.Module):
    """x ↦ x + σ ε with normal ε in training, and x itself otherwise.

    Whitening gives unit variance to as many directions as there are codes and less to the others, so that the noise
    hides directions of little variance most.

    Args:
        deviation: σ.
    """

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, values: Tensor) -> Tensor:
        """Noisy values while training."""
        if not self.training:
            return values
        return values + self.deviation * torch.randn_like(values)
