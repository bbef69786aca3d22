"""The network for observations that are plain vectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import final

from torch import Generator, nn

from identica import _checks
from identica.encoders._layers import Initialisation, linear

__all__ = ["MLP"]


@final
class MLP(nn.Sequential):
    """Linear layers with leaky ReLUs between them.

    Args:
        inputs: Number of observed coordinates.
        outputs: Number of codes.
        widths: Hidden widths.
        slope: Slope of the leaky ReLU below zero.
        initialisation: `kaiming` (normal, matched to the slope, zero biases) or `torch` (the default of `nn.Linear`).
        generator: Source of the initial weights.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        widths: Sequence[int],
        *,
        generator: Generator,
        slope: float = 0.01,
        initialisation: Initialisation = "torch",
    ) -> None:
        _checks.choice("initialisation", initialisation, ("kaiming", "torch"))
        sizes = [inputs, *widths, outputs]
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise(sizes):
            # In place: the backward passes of both layers need the activations only, so one tensor is kept, not two.
            layers += [linear(fan_in, fan_out, slope, initialisation, generator), nn.LeakyReLU(slope, inplace=True)]
        super().__init__(*layers[:-1])
        self.widths, self.slope = tuple(widths), slope

    @staticmethod
    def paper_widths(dim: int) -> tuple[int, ...]:
        """Hidden widths of the paper's encoder for N latents: 10N, 50N, 50N, 50N, 50N, 10N."""
        return tuple(dim * factor for factor in (10, 50, 50, 50, 50, 10))
