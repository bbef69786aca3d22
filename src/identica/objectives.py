"""What training minimises. Objectives see tensors only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, final, get_args

import torch
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica._ranks import gathered, ranks
from identica._streaming import mean_log_partition
from identica.similarities import PowerDistance, Similarity

__all__ = ["AlignmentUniformity", "InBatch", "InfoNCE", "InfoNCEParts", "mean_squared_error"]

InBatch = Literal["anchors", "positives", "both"]
"""Which other codes of a batch are the negatives of an anchor; with `both`, positives ask for their anchors too."""


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
            negatives; with 1 and the positive, this is the loss of the authors' released code. The loss then gains
            nothing from a kernel too narrow for the negatives to resolve, so that a learnt scale of the codes settles
            by itself; without the positive, alignment keeps its full pull.
        in_batch: Where negatives come from if none are given: every other anchor, or every other positive, of all
            processes that share the batch. With `both` they are all other codes, and the loss is the mean of two: which
            positive belongs to this anchor, and which anchor to this positive.

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
        _checks.choice("in_batch", self.in_batch, get_args(InBatch))

    def __call__(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None = None) -> Tensor:
        """Loss of codes [B, d] and their positives [B, d], against `negatives` [M, d] or those of the batch."""
        alignment, uniformity = self.parts(anchors, positives, negatives)
        return alignment + uniformity

    def parts(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None = None) -> InfoNCEParts:
        """Alignment (mean of -φ(u, u⁺)/τ) and uniformity (mean of the log of the denominator)."""
        self._check(anchors, positives, negatives)
        positive = self.similarity.paired(anchors, positives) / self.temperature
        if negatives is None and self.in_batch == "both":
            return InfoNCEParts(-positive.mean(), self._among_both(anchors, positives, positive))
        candidates = {"anchors": anchors, "positives": positives}[self.in_batch] if negatives is None else negatives
        uniformity = mean_log_partition(
            self.similarity,
            anchors,
            gathered(candidates) if negatives is None else candidates,
            temperature=self.temperature,
            extra_logits=self._extra_logits(anchors, positive),
            excluded=(ranks().rank * len(anchors),) if negatives is None else (),
        )
        return InfoNCEParts(-positive.mean(), uniformity)

    def _among_both(self, anchors: Tensor, positives: Tensor, positive: Tensor) -> Tensor:
        """Mean of the log of the denominator, of anchors and of positives, against all codes but those of the pair."""
        everything = [gathered(anchors), gathered(positives)]
        own = ranks().rank * len(anchors)
        found = [
            mean_log_partition(
                self.similarity,
                half,
                torch.cat(everything),
                temperature=self.temperature,
                extra_logits=self._extra_logits(half, positive),
                excluded=(own, own + len(everything[0])),
            )
            for half in (anchors, positives)
        ]
        return (found[0] + found[1]) / 2

    def _extra_logits(self, anchors: Tensor, positive: Tensor) -> Tensor | None:
        """Logits of the terms beside the negatives: one of the positive, one of the anchor, both or none."""
        extra = positive if self.positive_in_denominator else None
        if self.anchor_weight == 0:
            return extra
        own = self.similarity.paired(anchors, anchors) / self.temperature + math.log(self.anchor_weight)
        return own if extra is None else extra.logaddexp(own)

    def _check(self, anchors: Tensor, positives: Tensor, negatives: Tensor | None) -> None:
        _check_pairs(anchors, positives, in_batch=negatives is None)
        if negatives is not None:
            _checks.columns("negatives", negatives, anchors.shape[1])
            if negatives.shape[0] == 0:
                raise InputError("negatives must hold at least one row, got none")


@final
@dataclass(frozen=True)
class AlignmentUniformity:
    """a · E log E exp(-‖u - u⁻‖_p^p) + (1 - a) · E ‖u - u⁺‖_p^p: L_AU(a, p) (workshop, Eq. 70–72).

    The negatives u⁻ of an anchor are all anchors of the batch, itself included: its own term, 1, is the least that the
    mean can be, so that codes without bounds are not driven apart without end where uniformity weighs more.

    Args:
        a: Weight of uniformity; alignment has the rest.
        p: Power of the distance, 1 or 2.

    Example:
        >>> points = torch.zeros(4, 2)
        >>> AlignmentUniformity(0.9, 1)(points, points + 1)  # 0.9 · 0 + 0.1 · 2
        tensor(0.2000)
    """

    a: float = 0.5
    p: int = 1

    def __post_init__(self) -> None:
        if not 0 < _checks.positive("a", self.a) < 1:
            raise InputError(f"a must be above 0 and below 1, got {self.a:g}")
        if self.p not in (1, 2):
            raise InputError(f"p must be 1 or 2, got {self.p!r}")

    def __call__(self, anchors: Tensor, positives: Tensor) -> Tensor:
        """Loss of codes [B, d] and their positives [B, d]."""
        alignment, uniformity = self.parts(anchors, positives)
        return alignment + uniformity

    def parts(self, anchors: Tensor, positives: Tensor) -> InfoNCEParts:
        """The two terms, each with its weight."""
        _check_pairs(anchors, positives, in_batch=True)
        similarity = PowerDistance(float(self.p))
        negatives = gathered(anchors)
        uniformity = mean_log_partition(similarity, anchors, negatives) - math.log(len(negatives))
        return InfoNCEParts(-(1 - self.a) * similarity.paired(anchors, positives).mean(), self.a * uniformity)


def _check_pairs(anchors: Tensor, positives: Tensor, *, in_batch: bool) -> None:
    if anchors.ndim != 2 or anchors.shape != positives.shape:
        raise InputError(
            "anchors and positives must both have shape [batch, dim], "
            f"got {list(anchors.shape)} and {list(positives.shape)}"
        )
    if in_batch and anchors.shape[0] * ranks().size < 2:
        raise InputError(f"in-batch negatives need a batch of at least 2, got {anchors.shape[0]}")


def mean_squared_error(codes: Tensor, latents: Tensor) -> Tensor:
    """Mean of (f(x) - z)² over samples and coordinates: the supervised baseline."""
    if codes.shape != latents.shape:
        raise InputError(f"codes and latents must have one shape, got {list(codes.shape)} and {list(latents.shape)}")
    return nn.functional.mse_loss(codes, latents)
