"""What training minimises. Objectives see tensors only."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import torch
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica._streaming import mean_log_partition

__all__ = ["DotProduct", "InfoNCE", "InfoNCEParts", "PowerDistance", "Similarity", "mean_squared_error"]

InBatch = Literal["anchors", "positives"]

_MOST_UNROLLED = 16


class Similarity(ABC):
    """φ(u, v): large for points that are likely to be a positive pair."""

    @abstractmethod
    def paired(self, first: Tensor, second: Tensor) -> Tensor:
        """φ of each row of `first` with the same row of `second`, [count]."""

    @abstractmethod
    def logits(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """φ of anchors [b, d] with all columns of `candidates` [d, M], as [b, M]."""

    @abstractmethod
    def pullback(self, anchors: Tensor, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of Σ_ij weights_ij φ(u_i, c_j) with respect to anchors and (transposed) candidates."""


@final
@dataclass(frozen=True)
class DotProduct(Similarity):
    """φ(u, v) = uᵀv: the von Mises–Fisher model (Eq. 1)."""

    def paired(self, first: Tensor, second: Tensor) -> Tensor:
        return (first * second).sum(dim=1)

    def logits(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        return anchors @ candidates

    def pullback(self, anchors: Tensor, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        return weights @ candidates.T, anchors.T @ weights


@final
@dataclass(frozen=True)
class PowerDistance(Similarity):
    """φ(u, v) = -Σ_k |u_k - v_k|^α: Laplace model at α = 1, normal at 2, generalised normal at any α ≥ 1 (Eq. 6)."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        if _checks.positive("alpha", self.alpha) < 1:
            raise InputError(f"alpha must be at least 1, got {self.alpha:g}")

    def paired(self, first: Tensor, second: Tensor) -> Tensor:
        return -self._power(first - second).sum(dim=1)

    def logits(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        if _compiler_loops_over(anchors.shape[1]):
            return -self._power(anchors[:, None, :] - candidates.T[None]).sum(dim=2)
        # One coordinate at a time: the [b, M, d] differences never exist.
        total = self._power(anchors[:, 0, None] - candidates[0])
        for k in range(1, anchors.shape[1]):
            total = total + self._power(anchors[:, k, None] - candidates[k])
        return -total

    def pullback(self, anchors: Tensor, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        if self.alpha == 2:
            to_anchors = weights @ candidates.T - weights.sum(dim=1, keepdim=True) * anchors
            to_candidates = anchors.T @ weights - weights.sum(dim=0) * candidates
            return 2 * to_anchors, 2 * to_candidates
        if _compiler_loops_over(anchors.shape[1]):
            slope = self._slope(anchors[:, None, :] - candidates.T[None]) * weights[:, :, None]
            return -slope.sum(dim=1), slope.sum(dim=0).T
        up, across = [], []
        for k in range(anchors.shape[1]):
            flow = weights * self._slope(anchors[:, k, None] - candidates[k])
            up.append(-flow.sum(dim=1))
            across.append(flow.sum(dim=0))
        return torch.stack(up, dim=1), torch.stack(across)

    def _power(self, difference: Tensor) -> Tensor:
        """|t|^α."""
        if self.alpha == 1:
            return difference.abs()
        if self.alpha == 2:
            return difference * difference
        if self.alpha == 3:
            return difference * difference * difference.abs()
        return difference.abs().pow(self.alpha)

    def _slope(self, difference: Tensor) -> Tensor:
        """Derivative of |t|^α, taken as 0 at t = 0."""
        if self.alpha == 1:
            return difference.sign()
        if self.alpha == 2:
            return 2 * difference
        if self.alpha == 3:
            return 3 * difference * difference.abs()
        return self.alpha * difference.sign() * difference.abs().pow(self.alpha - 1)


def _compiler_loops_over(dim: int) -> bool:
    """Whether the compiler should loop over coordinates (it fuses the sum); to unroll many would take it minutes."""
    return dim > _MOST_UNROLLED and torch.compiler.is_compiling()


class InfoNCEParts(NamedTuple):
    """The two halves of InfoNCE; the loss is their sum."""

    alignment: Tensor
    uniformity: Tensor


@final
@dataclass(frozen=True)
class InfoNCE:
    """-φ(u, u⁺)/τ + log(exp φ(u, u⁺)/τ + Σ_j exp φ(u, u_j)/τ), averaged over anchors (Eq. 1 and 6).

    Args:
        similarity: φ.
        temperature: τ.
        positive_in_denominator: Keep the first term of the sum (Eq. 1), or leave it out (SimCLR form).
        anchor_weight: Add this much of exp φ(u, u)/τ to the sum, as if a part of the anchor were one of its own
            negatives. The loss then gains nothing from a kernel too narrow for the negatives to resolve, so that a
            learnt scale of the codes settles by itself; without the positive, alignment keeps its full pull.
        in_batch: Where negatives come from if none are given: every other anchor, or every other positive.

    Example:
        >>> points = torch.zeros(4, 2)
        >>> InfoNCE(PowerDistance(1.0))(points, points)  # log(1 + 3)
        tensor(1.3863)
    """

    similarity: Similarity
    temperature: float = 1.0
    positive_in_denominator: bool = True
    anchor_weight: float = 0.0
    in_batch: InBatch = "anchors"

    def __post_init__(self) -> None:
        _checks.positive("temperature", self.temperature)
        _checks.not_negative("anchor_weight", self.anchor_weight)
        _checks.choice("in_batch", self.in_batch, ("anchors", "positives"))

    def __call__(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None = None) -> Tensor:
        """Loss of codes [B, d] and their positives [B, d], against `negatives` [M, d] or those of the batch."""
        alignment, uniformity = self.parts(anchors, positives, negatives)
        return alignment + uniformity

    def parts(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None = None) -> InfoNCEParts:
        """Alignment (mean of -φ(u, u⁺)/τ) and uniformity (mean of the log of the denominator)."""
        self._check(anchors, positives, negatives)
        positive = self.similarity.paired(anchors, positives) / self.temperature
        candidates = {"anchors": anchors, "positives": positives}[self.in_batch] if negatives is None else negatives
        uniformity = mean_log_partition(
            self.similarity,
            anchors,
            candidates,
            temperature=self.temperature,
            floor=self._floor(anchors, positive),
            excluded=(0,) if negatives is None else (),
        )
        return InfoNCEParts(-positive.mean(), uniformity)

    def _floor(self, anchors: Tensor, positive: Tensor) -> Tensor | None:
        """Logits of the terms beside the negatives: one of the positive, one of the anchor, both or none."""
        floor = positive if self.positive_in_denominator else None
        if self.anchor_weight == 0:
            return floor
        own = self.similarity.paired(anchors, anchors) / self.temperature + math.log(self.anchor_weight)
        return own if floor is None else torch.logaddexp(floor, own)

    def _check(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None) -> None:
        if anchors.ndim != 2 or anchors.shape != positives.shape:
            raise InputError(
                "anchors and positives must both have shape [batch, dim], "
                f"got {list(anchors.shape)} and {list(positives.shape)}"
            )
        if negatives is None and anchors.shape[0] < 2:
            raise InputError(f"in-batch negatives need a batch of at least 2, got {anchors.shape[0]}")
        if negatives is not None:
            _checks.columns("negatives", negatives, anchors.shape[1])
            if negatives.shape[0] == 0:
                raise InputError("negatives must hold at least one row, got none")


def mean_squared_error(codes: Tensor, latents: Tensor) -> Tensor:
    """Mean of (f(x) - z)² over samples and coordinates: the supervised baseline."""
    if codes.shape != latents.shape:
        raise InputError(f"codes and latents must have one shape, got {list(codes.shape)} and {list(latents.shape)}")
    return nn.functional.mse_loss(codes, latents)
