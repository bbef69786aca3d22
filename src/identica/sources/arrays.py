"""Positive pairs from arrays: rows of two arrays, index pairs into one, or points of a series a lag apart."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Generator, Tensor

from identica.sources.base import Source
from identica.sources.pairings import IndexPairing

__all__ = ["ArrayPairs"]


@final
class ArrayPairs(Source):
    """Pairs (x[i], x[j]) for index pairs (i, j), drawn anew for each batch.

    Args:
        observations: x, [samples, …].
        indices: Index pairs into x, [pairs, 2].

    Example:
        >>> from identica.sources import lagged_pairs
        >>> series = ArrayPairs(torch.arange(10.0)[:, None], lagged_pairs(10, lag=1))
        >>> first, second = series.pairs(4, torch.Generator().manual_seed(0))
        >>> (second - first).flatten()
        tensor([1., 1., 1., 1.])
    """

    def __init__(self, observations: Tensor, indices: ArrayLike) -> None:
        pairs = IndexPairing(observations.shape[0], indices).indices
        self.observations = observations
        self.shape = tuple(observations.shape[1:])
        self.indices = torch.from_numpy(np.ascontiguousarray(pairs)).to(observations.device)
        self.paired = torch.from_numpy(np.unique(pairs)).to(observations.device)

    def __len__(self) -> int:
        return self.indices.shape[0]

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw `count` pairs with replacement."""
        chosen = torch.randint(len(self), (count,), generator=generator, device=generator.device)
        return self.at(chosen.to(self.indices.device), generator.device)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` pairs without replacement."""
        chosen = torch.randperm(len(self), generator=generator, device=generator.device)[:count]
        return self.at(chosen.to(self.indices.device), generator.device)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` observations that are in a pair, without replacement."""
        chosen = torch.randperm(len(self.paired), generator=generator, device=generator.device)[:count]
        return self.observations[self.paired[chosen.to(self.paired.device)]].to(generator.device)

    def at(self, chosen: Tensor, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
        """The pairs with these numbers; of observations only what is asked for moves to the device."""
        first, second = self.indices[chosen].unbind(dim=1)
        return self.observations[first].to(device), self.observations[second].to(device)
