"""How alike two codes are: the similarities φ, each the log density of a family of conditionals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica.laws import AdditiveNoise, GeneralizedNormal, Laplace, Law, Normal, VonMisesFisher, Width

__all__ = ["DotProduct", "PowerDistance", "Similarity", "log_sums"]

_MOST_UNROLLED = 16
_FEW_DIFFERENCES = 1 << 16
_LEAST_DISTANCE = 1e-9
_BLOCK_ENTRIES = 1 << 21


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

    @abstractmethod
    def law(self, scale: Width) -> Law:
        """The conditional p(z~ | z) whose log density is φ(scale · z, scale · z~), up to a constant."""

    @abstractmethod
    def matched_slope(self, conditional: Law) -> float | None:
        """The factor on φ(z, z~) at which exp φ is `conditional`; None for a law of another family."""

    @abstractmethod
    def unbounded_scale(self, first: Tensor, second: Tensor) -> float:
        """The scale of `law` that fits these pairs if nothing bounds the noise: a guess to start from."""


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

    def law(self, scale: Width) -> Law:
        if isinstance(scale, tuple):
            raise InputError(f"a von Mises–Fisher law has one concentration, got {len(scale)} scales")
        return VonMisesFisher(scale**2)

    def matched_slope(self, conditional: Law) -> float | None:
        return conditional.kappa if isinstance(conditional, VonMisesFisher) else None

    def unbounded_scale(self, first: Tensor, second: Tensor) -> float:
        distance = float((first - second).square().sum(dim=1).mean())  # N / κ
        return math.sqrt(first.shape[1] / max(distance, _LEAST_DISTANCE))


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
        if _all_coordinates_at_once(anchors, candidates):
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
        if _all_coordinates_at_once(anchors, candidates):
            slope = self._slope(anchors[:, None, :] - candidates.T[None]) * weights[:, :, None]
            return -slope.sum(dim=1), slope.sum(dim=0).T
        up, across = [], []
        for k in range(anchors.shape[1]):
            flow = weights * self._slope(anchors[:, k, None] - candidates[k])
            up.append(-flow.sum(dim=1))
            across.append(flow.sum(dim=0))
        return torch.stack(up, dim=1), torch.stack(across)

    def law(self, scale: Width) -> Law:
        unit = math.sqrt(2) if self.alpha == 2 else 1.0
        width = tuple(1 / (unit * one) for one in scale) if isinstance(scale, tuple) else 1 / (unit * scale)
        if self.alpha == 1:
            return Laplace(width)
        return Normal(width) if self.alpha == 2 else GeneralizedNormal(self.alpha, width)

    def matched_slope(self, conditional: Law) -> float | None:
        if not isinstance(conditional, AdditiveNoise) or isinstance(conditional.scale, tuple):
            return None
        if isinstance(conditional, Normal):
            return 1 / (2 * conditional.scale**2) if self.alpha == 2 else None
        if isinstance(conditional, Laplace):
            return 1 / conditional.scale if self.alpha == 1 else None
        same = isinstance(conditional, GeneralizedNormal) and conditional.beta == self.alpha
        return float(conditional.scale**-self.alpha) if same else None

    def unbounded_scale(self, first: Tensor, second: Tensor) -> float:
        distance = float(-self.paired(first, second).mean())  # N / α
        return float((first.shape[1] / self.alpha / max(distance, _LEAST_DISTANCE)) ** (1 / self.alpha))

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


def _all_coordinates_at_once(anchors: Tensor, candidates: Tensor) -> bool:
    """Whether to take all coordinates in one go.

    If pairs are few, since each operation has a price of its own; and if the compiler sees many coordinates: it fuses
    the sum, and to unroll it would take minutes.
    """
    if torch.compiler.is_compiling():
        return anchors.shape[1] > _MOST_UNROLLED
    return anchors.shape[0] * candidates.numel() <= _FEW_DIFFERENCES


def log_sums(similarity: Similarity, anchors: Tensor, candidates: Tensor) -> Tensor:
    """Log Σ_j exp φ(u_i, c_j) of each anchor over all candidates, in blocks of anchors, [anchors]."""
    transposed = candidates.T.contiguous()
    rows = max(1, _BLOCK_ENTRIES // len(candidates))
    return torch.cat([similarity.logits(block, transposed).logsumexp(dim=1) for block in torch.split(anchors, rows)])
