"""Which codes are spare: they tell nothing about partners, or nothing that the other codes do not."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica.information import bits_of_pairs, match_scales
from identica.similarities import Similarity

__all__ = ["informative_codes"]

# Bits of a single code below which it tells nothing, and R² from the other codes above which it is spare.
_LEAST_BITS, _MOST_EXPLAINED = 0.02, 0.8
_SAMPLES = 4096
# Trees that tell in a quarter of the time which codes the others may predict at all.
_FEW_TREES, _TREES, _MAYBE = 15, 60, 0.5
_PAIRS = 1024


def informative_codes(similarity: Similarity, first: Tensor, second: Tensor, scales: Tensor) -> Tensor:
    """Which codes tell something about partners that the others do not, as booleans, [d].

    A code is spare if by itself it tells nothing about its partner, or if the other codes predict it. Of codes that
    predict each other, that one goes first whose absence costs the fewest bits once the others are matched anew.

    Args:
        similarity: φ.
        first: Codes z, [pairs, d].
        second: Codes z~ of their partners, [pairs, d].
        scales: Factors that match φ to the conditional, [d].
    """
    used = torch.tensor([_tells_something(similarity, first[:, [k]], second[:, [k]]) for k in range(first.shape[1])])
    if not used.any():
        return ~used  # nothing can be told of any, so none is worse than another
    while int(used.sum()) > 1:
        kept = used.nonzero().flatten().tolist()
        explained = _explained_by_the_others(first[:_SAMPLES, kept].numpy())
        spare = [code for code, part in zip(kept, explained, strict=True) if part > _MOST_EXPLAINED]
        if not spare:
            break
        left = {code: _bits_without(similarity, first, second, scales, kept, code) for code in spare}
        used[max(left, key=left.__getitem__)] = False
    return used


def _tells_something(similarity: Similarity, first: Tensor, second: Tensor) -> bool:
    start = torch.ones(1) * similarity.unbounded_scale(first.float(), second.float())
    scale = match_scales(similarity, first[:_PAIRS], second[:_PAIRS], start, free=False)
    bits = bits_of_pairs(similarity, first[:_PAIRS].float(), second[:_PAIRS].float(), scale.float())
    return float(bits.mean()) > _LEAST_BITS


def _bits_without(
    similarity: Similarity, first: Tensor, second: Tensor, scales: Tensor, kept: list[int], code: int
) -> float:
    """Mean bits a pair of the kept codes but one, with scales matched anew."""
    others = [other for other in kept if other != code]
    ours, theirs = first[:_PAIRS, others], second[:_PAIRS, others]
    matched = match_scales(similarity, ours, theirs, scales[others].clamp_min(1e-6), free=True)
    return float(bits_of_pairs(similarity, ours.float(), theirs.float(), matched.float()).mean())


def _explained_by_the_others(codes: NDArray[np.float64]) -> list[float]:
    """R² of each code as predicted from the others by trees, on samples that these have not seen."""
    found = []
    for index in range(codes.shape[1]):
        others, target = np.delete(codes, index, axis=1), codes[:, index]
        at_first = _explained(others, target, _FEW_TREES)
        found.append(at_first if at_first < _MAYBE else _explained(others, target, _TREES))
    return found


def _explained(others: NDArray[np.float64], target: NDArray[np.float64], trees: int) -> float:
    from sklearn.ensemble import HistGradientBoostingRegressor

    half = len(others) // 2
    model = HistGradientBoostingRegressor(max_iter=trees, random_state=0).fit(others[:half], target[:half])
    return float(model.score(others[half:], target[half:]))
