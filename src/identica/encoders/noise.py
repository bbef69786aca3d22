"""Noise on what a network sees while it is trained, against learning few pairs by heart."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

__all__ = ["InputNoise"]

_BATCHES = 4


@final
class InputNoise(nn.Module):
    """x ↦ x + σ ε with normal ε in training, and x itself otherwise.

    Whitening gives unit variance to as many directions as there are codes and less to the others, so that the noise
    hides directions of little variance most.

    Normal numbers take longer to draw than a small network to train, so that some batches of them are drawn once, and
    each batch of observations meets a stretch of them that begins anywhere, with either sign.

    Args:
        deviation: σ.
    """

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation
        self._drawn: Tensor | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Noisy values while training."""
        if not self.training:
            return values
        place = int(torch.randint((_BATCHES - 1) * len(values) + 1, ()))
        sign = 1 - 2 * int(torch.randint(2, ()))
        return torch.add(values, self._noise(values)[place : place + len(values)], alpha=sign * self.deviation)

    def _noise(self, values: Tensor) -> Tensor:
        """Some batches of noise, for batches like these values."""
        shape = (_BATCHES * len(values), *values.shape[1:])
        if self._drawn is None or self._drawn.shape != shape or self._drawn.device != values.device:
            self._drawn = torch.randn(shape, dtype=values.dtype, device=values.device)
        return self._drawn
