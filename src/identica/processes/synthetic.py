"""Pairs from known latents through a known mixing, for experiments where the truth is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Generator, Tensor, nn

from identica._checks import InputError
from identica.laws import Conditional, Marginal

__all__ = ["SyntheticProcess"]


@final
@dataclass(frozen=True)
class SyntheticProcess:
    """z ~ p(z), z~ ~ p(z~ | z), x = g(z), x~ = g(z~).

    Args:
        marginal: p(z).
        conditional: p(z~ | z), on the same space.
        mixing: g, a module from latents to observations.
    """

    marginal: Marginal
    conditional: Conditional
    mixing: nn.Module

    def __post_init__(self) -> None:
        if self.marginal.space != self.conditional.space:
            raise InputError(
                f"marginal and conditional must share one space, got {self.marginal.space} and {self.conditional.space}"
            )
        dim = getattr(self.mixing, "dim", self.marginal.space.dim)
        if dim != self.marginal.space.dim:
            raise InputError(f"mixing must take {self.marginal.space.dim} latents, got one for {dim}")

    @torch.no_grad()
    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw anchors and positives."""
        anchors = self.marginal.sample(count, generator)
        positives = self.conditional.sample(anchors, generator)
        observations: Tensor = self.mixing(torch.cat([anchors, positives]))
        first, second = observations.chunk(2)
        return first, second

    @torch.no_grad()
    def labelled(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw latents and their observations, for scoring and for the supervised baseline."""
        latents = self.marginal.sample(count, generator)
        return latents, self.mixing(latents)
