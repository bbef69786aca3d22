"""How much codes tell about partners that were not fitted."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica.encoders import encode
from identica.information import bits_of_pairs, match_scales
from identica.learners import ContrastiveLearner
from identica.models import Model
from identica.sources import ArrayPairs

__all__ = ["HeldOut", "blocks_of", "held_out_bits", "learnt_by_heart", "standard_error", "tells_nothing"]

_MOST_PAIRS = 2048
_SMALLEST_SPREAD = 1e-6
_STRANGERS = 0.05
_FEWEST_BLOCKS = 10


def held_out_bits(model: Model, first: Tensor, second: Tensor, others: Tensor | None = None) -> Tensor:
    """Bits of each pair, with the width matched on the other half of the pairs, [pairs].

    A width that was matched to fitted pairs would punish a good code for being sharp; one that was matched to the same
    pairs would flatter it. One pair in twenty is taken to be of strangers, so that no single pair can cost more than
    4.3 bits.

    Args:
        model: What is assumed.
        first: Codes z, [pairs, d].
        second: Codes z~, [pairs, d].
        others: Further codes z to tell partners from, [others, d].
    """
    middle = len(first) // 2
    halves = slice(0, middle), slice(middle, None)
    found = []
    for scored, matched in (halves, halves[::-1]):
        start = 1 / first[matched].double().std(dim=0).clamp_min(_SMALLEST_SPREAD)
        scales = match_scales(model.similarity, first[matched], second[matched], start, free=model.has_free_widths)
        pairs = first[scored].float(), second[scored].float()
        found.append(bits_of_pairs(model.similarity, *pairs, scales.float(), others))
    return ((1 - _STRANGERS) * torch.cat(found).double().exp2() + _STRANGERS).log2()


def standard_error(values: Tensor, blocks: Tensor | None = None) -> float:
    """Of the mean of values, [pairs]; pairs of one block are not independent, as neighbours in time are not.

    Args:
        values: One for each pair.
        blocks: The number of the block that each pair is in; each pair is by itself if not given.
    """
    if blocks is None:
        return float(values.double().std()) / len(values) ** 0.5
    numbers = torch.from_numpy(np.unique(blocks.numpy(), return_inverse=True)[1].ravel())
    count = int(numbers.max()) + 1
    sums = torch.zeros(count, dtype=torch.float64).index_add_(0, numbers, (values - values.mean()).double())
    return float(sums.square().sum() * count / max(1, count - 1)) ** 0.5 / len(values)


def learnt_by_heart(fitted_bits: float, held_out_bits: float) -> bool:
    """Whether more than half of what fitted pairs share is not found in held-out ones."""
    return fitted_bits - held_out_bits > max(fitted_bits, 0.0) / 2


def tells_nothing(bits: float | None, error: float) -> bool:
    """Whether held-out pairs, if there are any, share no bits: none above zero by more than twice the error."""
    return bits is not None and bits <= 2 * error


@final
class HeldOut:
    """Pairs that are scored and never fitted, in an order without time.

    Args:
        source: The pairs.
        seed: Of the order.
        runs: Of the rows; None if they have no order.
    """

    def __init__(self, source: ArrayPairs, seed: int, runs: NDArray[np.int64] | None = None) -> None:
        order = torch.randperm(len(source), generator=torch.Generator().manual_seed(seed))[:_MOST_PAIRS]
        self.source, self.first, self.second = source, *source.at(order)
        self.blocks = None if runs is None else blocks_of(source.indices[:, 0].cpu().numpy(), runs)[order]

    def bits(self, learner: ContrastiveLearner, device: str) -> Tensor:
        """Bits of each pair, [pairs]."""
        halves = (encode(learner.reader, half, device) for half in (self.first, self.second))
        return held_out_bits(learner.model, *halves)

    def loss(self, learner: ContrastiveLearner, most: int) -> float:
        """The learner's own loss on up to so many pairs, without its penalty."""
        device = learner.units.shift.device
        pairs = [half[:most].to(device) for half in (self.first, self.second)]
        return float(learner.infonce(*learner.encoder(torch.cat(pairs)).chunk(2)))


def blocks_of(rows: NDArray[np.int64], runs: NDArray[np.int64]) -> Tensor:
    """For each pair of a series, by its first row, its run; long runs are cut, so that there are some blocks."""
    longest = max(1, len(rows) // _FEWEST_BLOCKS)
    _, firsts, run = np.unique(runs, return_index=True, return_inverse=True)
    own = run.ravel()[rows]
    return torch.from_numpy(own * len(runs) + (rows - firsts[own]) // longest)
