"""What codes tell about their partners: bits a pair, and the scales at which a similarity fits the pairs."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica._streaming import mean_log_partition
from identica.similarities import Similarity, log_sums

__all__ = ["bits_of_pairs", "match_scales"]

_MOST_CANDIDATES = 16_384
_CALIBRATION_ANCHORS = 1024
_MOST_ITERATIONS = 100


def bits_of_pairs(
    similarity: Similarity, first: Tensor, second: Tensor, scale: float | Tensor, others: Tensor | None = None
) -> Tensor:
    """log₂ M - InfoNCE of each pair, in bits: how much of its partner z a code z~ tells, [pairs].

    InfoNCE is that of telling from z~ which of M codes z it came from. By Bayes the log ratio p(z | z~) / p(z) is
    log p(z~ | z) up to a function of z~, whatever the marginal, so the matched similarity reaches the mutual
    information, up to the limit of log₂ M.

    Args:
        similarity: φ.
        first: Codes z, [pairs, d].
        second: Codes z~, [pairs, d].
        scale: Factor on the codes that matches φ to the conditional, one for all or one for each, [d].
        others: Further codes z to tell the partner from, [others, d], so that the limit is higher.
    """
    strangers = first[:0] if others is None else scale * others
    groups = math.ceil(first.shape[0] / _MOST_CANDIDATES)
    halves = zip((scale * first).chunk(groups), (scale * second).chunk(groups), strict=True)
    return torch.cat([_bits(similarity, own, anchors, torch.cat([own, strangers])) for own, anchors in halves])


def match_scales(similarity: Similarity, first: Tensor, second: Tensor, start: Tensor, *, free: bool) -> Tensor:
    """The factors on the codes at which InfoNCE of these pairs is lowest, [d].

    Args:
        similarity: φ.
        first: Codes z, [pairs, d].
        second: Codes z~, [pairs, d].
        start: Factors to begin with, [d].
        free: Match each of them; otherwise only their common size.
    """
    from scipy.optimize import minimize, minimize_scalar

    start = start.float()
    candidates, partners = first.float(), second.float()
    anchors = partners[:_CALIBRATION_ANCHORS]
    own = candidates[:_CALIBRATION_ANCHORS]

    def loss(scales: Tensor) -> Tensor:
        aligned = similarity.paired(scales * anchors, scales * own).mean()
        return mean_log_partition(similarity, scales * anchors, scales * candidates) - aligned

    def common(log_size: float) -> float:
        with torch.no_grad():
            return float(loss(math.exp(log_size) * start))

    centre = math.log(similarity.unbounded_scale(start * candidates, start * partners))
    found = minimize_scalar(common, bounds=(centre - 4, centre + 2), method="bounded", options={"xatol": 1e-3})
    matched = math.exp(found.x) * start
    if not free:
        return matched

    def each(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = torch.from_numpy(logs).float().requires_grad_()
        value = loss(values.exp())
        (slope,) = torch.autograd.grad(value, values)
        return float(value.detach()), slope.double().numpy()

    begun = matched.log().double().numpy()
    bounds = [(value - 6, value + 3) for value in begun.tolist()]
    best = minimize(each, begun, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _MOST_ITERATIONS})
    return torch.from_numpy(best.x).exp()


def _bits(similarity: Similarity, partners: Tensor, anchors: Tensor, candidates: Tensor) -> Tensor:
    """Bits of each anchor about its partner, which is one of the candidates."""
    nats = similarity.paired(anchors, partners) + math.log(len(candidates)) - log_sums(similarity, anchors, candidates)
    return nats / math.log(2)
