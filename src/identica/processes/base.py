"""What training asks of a source of positive pairs."""

from __future__ import annotations

from typing import Protocol

from torch import Generator, Tensor

__all__ = ["Process"]


class Process(Protocol):
    """Anything that yields positive pairs of observations: a formula, an array, a renderer, a folder.

    Training sees `pairs` alone; nothing about the latents passes through it.
    """

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw `count` anchors and their positives, [count, …] each, on the generator's device."""
        ...
