"""Pixels as probabilities."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError

__all__ = ["Brightness"]


@final
class Brightness(nn.Module):
    """x ↦ (x - low) / (high - low), clipped to [0, 1]: pixels as probabilities; not trained.

    Args:
        low: The value of a black pixel.
        high: That of a white one.
    """

    low: Tensor
    high: Tensor

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        if not low < high:
            raise InputError(f"high must be above low, got {high:g} and {low:g}")
        self.register_buffer("low", torch.tensor(float(low)))
        self.register_buffer("high", torch.tensor(float(high)))

    @classmethod
    def fit(cls, images: Tensor) -> Brightness:
        """The range of a sample of images."""
        if images.ndim != 4:
            raise InputError(f"images must have shape [count, channels, height, width], got {list(images.shape)}")
        low, high = (float(_checks.finite("images", end)) for end in images.aminmax())
        if low == high:
            raise InputError(f"images must vary, got {len(images)} whose pixels are all {low:g}")
        return cls(low, high)

    def forward(self, images: Tensor) -> Tensor:
        """Probabilities of white."""
        return ((images.to(self.low.dtype) - self.low) / (self.high - self.low)).clamp(0, 1)

    def inverse(self, probabilities: Tensor) -> Tensor:
        """Pixels in the units of the images."""
        return self.low + (self.high - self.low) * probabilities
