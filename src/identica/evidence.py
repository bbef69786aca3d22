"""What pairs say about codes: the bits a code tells about its partner, and the width of the conditional they fit."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from identica.objectives import DotProduct, PowerDistance, Similarity

__all__ = ["bits_of_pairs", "match_scale"]

_MOST_CANDIDATES = 16_384
_BLOCK_ENTRIES = 1 << 21
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

    centre = _first_guess(similarity, candidates, partners)
    found = minimize_scalar(
        loss, bounds=(math.log(centre) - 4, math.log(centre) + 2), method="bounded", options={"xatol": 1e-3}
    )
    return float(math.exp(found.x))


def _bits(similarity: Similarity, partners: Tensor, anchors: Tensor, candidates: Tensor) -> Tensor:
    """Bits of each anchor about its partner, which is one of the candidates; in blocks of anchors."""
    transposed = candidates.T.contiguous()
    rows = max(1, _BLOCK_ENTRIES // len(candidates))
    log_partition = torch.cat(
        [similarity.logits(block, transposed).logsumexp(dim=1) for block in torch.split(anchors, rows)]
    )
    nats = similarity.paired(anchors, partners) + math.log(len(candidates)) - log_partition
    return nats / math.log(2)


def _first_guess(similarity: Similarity, first: Tensor, second: Tensor) -> float:
    """The scale without bounds: E δ = N / α for the generalised normal law, E ‖z - z~‖² = N / κ on a sphere."""
    if isinstance(similarity, PowerDistance):
        alpha, distance = similarity.alpha, float(-similarity.paired(first, second).mean())
        return float((first.shape[1] / alpha / max(distance, 1e-9)) ** (1 / alpha))
    assert isinstance(similarity, DotProduct)
    return math.sqrt(first.shape[1] / max(float((first - second).square().sum(dim=1).mean()), 1e-9))
