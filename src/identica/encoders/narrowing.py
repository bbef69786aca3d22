"""From many codes without bounds to as many as there are factors."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor, nn

from identica.encoders.mlp import MLP

__all__ = ["Narrowing"]

_WIDTHS, _SLOPE = (256, 256), 0.1
_MOMENTUM = 0.01


@final
class Narrowing(nn.Module):
    """A small network from wide codes, in units of their own deviation, to unconstrained codes.

    Of some factors, such as a rotation, a few numbers are simple to see, and once these are codes no simple one
    completes them: training stays there. More codes than factors have room for all of it. They are still few, and a
    small network finds the factors among them. Gradients stop at the wide codes, which have a loss of their own.

    Moments are those of the latest batches, in training too: a batch of observations that are alike has others.

    Args:
        wide: Number of codes that come in.
        outputs: Number of codes that go out.
        generator: Source of the initial weights.
    """

    mean: Tensor
    square: Tensor

    def __init__(self, wide: int, outputs: int, generator: Generator) -> None:
        super().__init__()
        self.network = MLP(wide, outputs, _WIDTHS, generator=generator, slope=_SLOPE, initialisation="kaiming")
        self.register_buffer("mean", torch.zeros(wide, device=generator.device))
        self.register_buffer("square", torch.ones(wide, device=generator.device))

    def forward(self, codes: Tensor) -> Tensor:
        """Unconstrained codes of wide ones."""
        fixed = codes.detach()
        if self.training:
            self.mean.lerp_(fixed.mean(dim=0).to(self.mean), _MOMENTUM)
            self.square.lerp_(fixed.square().mean(dim=0).to(self.square), _MOMENTUM)
        deviation = (self.square - self.mean.square()).clamp_min(1e-6).sqrt()
        narrow: Tensor = self.network((fixed - self.mean) / deviation)
        return narrow
