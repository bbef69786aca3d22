"""What codes tell about their partners: bits a pair, and the scale at which a similarity fits the pairs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from identica.similarities import Similarity, log_sums

__all__ = ["bits_of_pairs", "match_scale"]

_MOST_CANDIDATES = 16_384
_CALIBRATION_ANCHORS = 1024


def bits_of_pairs(similarity: Similarity, first: Tensor, second: Tensor, scale: float) -> Tensor:
    """log₂ M - InfoNCE of each pair, in bits: how much of its partner z a code z~ tells, [pairs].

    InfoNCE is that of telling from z~ which of M codes z it came from. By Bayes the log ratio p(z | z~) / p(z) is
    log p(z~ | z) up to a function of z~, whatever the marginal, so the matched similarity reaches the mutual
    information, up to the limit of log₂ M.

    Args:
        similarity: φ.
        first: Codes z, [pairs, d].
        second: Codes z~, [pairs, d].
        scale: Factor on the codes that matches φ to the conditional.
    """
    groups = math.ceil(first.shape[0] / _MOST_CANDIDATES)
    halves = zip((scale * first).chunk(groups), (scale * second).chunk(groups), strict=True)
    return torch.cat([_bits(similarity, candidates, anchors, candidates) for candidates, anchors in halves])


def match_scale(similarity: Similarity, first: Tensor, second: Tensor) -> float:
    """The factor on the codes at which InfoNCE of these pairs is lowest."""
    from scipy.optimize import minimize_scalar

    candidates, partners = first.float(), second.float()
    count = min(_CALIBRATION_ANCHORS, len(candidates))

    def loss(log_scale: float) -> float:
        s = math.exp(log_scale)
        return -float(_bits(similarity, s * candidates[:count], s * partners[:count], s * candidates).mean())

    centre = similarity.unbounded_scale(candidates, partners)
    found = minimize_scalar(
        loss, bounds=(math.log(centre) - 4, math.log(centre) + 2), method="bounded", options={"xatol": 1e-3}
    )
    return float(math.exp(found.x))


def _bits(similarity: Similarity, partners: Tensor, anchors: Tensor, candidates: Tensor) -> Tensor:
    """Bits of each anchor about its partner, which is one of the candidates."""
    nats = similarity.paired(anchors, partners) + math.log(len(candidates)) - log_sums(similarity, anchors, candidates)
    return nats / math.log(2)
