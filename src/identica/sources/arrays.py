"""Positive pairs from arrays: rows of two arrays, index pairs into one, or points of a series a lag apart."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.sources.base import Source

__all__ = ["ArrayPairs", "lagged_pairs"]


@final
class ArrayPairs(Source):
    """Pairs (x[i], x[j]) for index pairs (i, j), drawn anew for each batch.

    Args:
        observations: x, [samples, …].
        indices: Index pairs into x, [pairs, 2].

    Example:
        >>> series = ArrayPairs(torch.arange(10.0)[:, None], lagged_pairs(10, lag=1))
        >>> first, second = series.pairs(4, torch.Generator().manual_seed(0))
        >>> (second - first).flatten()
        tensor([1., 1., 1., 1.])
    """

    def __init__(self, observations: Tensor, indices: ArrayLike) -> None:
        pairs = np.asarray(indices)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InputError(f"pairs must be whole numbers of shape [pairs, 2], got {pairs.dtype} {list(pairs.shape)}")
        if len(pairs) == 0:
            raise InputError("pairs must hold at least one pair, got none")
        count = observations.shape[0]
        if pairs.min() < 0 or pairs.max() >= count:
            raise InputError(f"pairs must index the {count} samples from 0, got {pairs.min()} to {pairs.max()}")
        self.observations = observations
        self.shape = tuple(observations.shape[1:])
        self.indices = torch.from_numpy(np.ascontiguousarray(pairs.astype(np.int64))).to(observations.device)

    def __len__(self) -> int:
        return self.indices.shape[0]

    def split(self, held_out: float, *, in_order: bool, seed: int) -> tuple[ArrayPairs, ArrayPairs | None]:
        """The pairs to fit and those to test, None if there are none to test.

        Args:
            held_out: Part of the pairs to test.
            in_order: Take the last ones: neighbours in time are too alike to test each other.
            seed: Of the random choice otherwise.
        """
        if not 0 <= held_out < 1:
            raise InputError(f"held_out must be a part from 0 to below 1, got {held_out!r}")
        count = len(self)
        order = np.arange(count) if in_order else np.random.default_rng(seed).permutation(count)
        fitted = count - round(held_out * count)
        indices = self.indices.cpu().numpy()
        tested = ArrayPairs(self.observations, indices[np.sort(order[fitted:])]) if fitted < count else None
        return ArrayPairs(self.observations, indices[np.sort(order[:fitted])]), tested

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw `count` pairs with replacement."""
        chosen = torch.randint(len(self), (count,), generator=generator, device=generator.device)
        return self.at(chosen.to(self.indices.device), generator.device)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` pairs without replacement."""
        chosen = torch.randperm(len(self), generator=generator, device=generator.device)[:count]
        return self.at(chosen.to(self.indices.device), generator.device)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` observations without replacement."""
        chosen = torch.randperm(len(self.observations), generator=generator, device=generator.device)[:count]
        return self.observations[chosen.to(self.observations.device)].to(generator.device)

    def at(self, chosen: Tensor, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
        """The pairs with these numbers; of observations only what is asked for moves to the device."""
        first, second = self.indices[chosen].unbind(dim=1)
        return self.observations[first].to(device), self.observations[second].to(device)


def lagged_pairs(count: int, lag: int, trials: ArrayLike | None = None) -> NDArray[np.int64]:
    """Index pairs (t, t + lag) of a series; with `trials` (a label a sample) only those within one trial."""
    _checks.at_least_one("lag", lag)
    if lag >= count:
        raise InputError(f"lag must be below the number of samples {count}, got {lag}")
    start = np.arange(count - lag)
    if trials is not None:
        labels = np.asarray(trials)
        if labels.shape != (count,):
            raise InputError(f"trials must hold one label for each of the {count} samples, got {list(labels.shape)}")
        start = start[_same_run(labels, lag)]
        if len(start) == 0:
            raise InputError(f"no trial is longer than the lag of {lag} samples")
    return np.stack([start, start + lag], axis=1)


def _same_run(labels: NDArray[np.generic], lag: int) -> NDArray[np.bool_]:
    """Whether no trial border lies between t and t + lag."""
    borders = np.concatenate([[0], np.cumsum(labels[1:] != labels[:-1])])
    return np.asarray(borders[lag:] == borders[:-lag])
