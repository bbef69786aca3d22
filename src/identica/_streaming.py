"""Log-partition sums over all pairs, in blocks: memory grows with the points, never with the pairs.

The gradient of a mean of logsumexps is known as soon as a block's logits are, up to the scalar that arrives from
above. So one pass over the pairs computes value and gradient together, and no logits are kept for the backward pass.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import os
import shutil
import warnings
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["PairwiseKernel", "mean_log_partition"]

_SHORT = (torch.float16, torch.bfloat16)
_BLOCK_ENTRIES = 1 << 18
_LEAST_ROWS = 64
_COMPILE_FROM_PAIRS = 1 << 18
# Logits so far behind the largest have weights below 1e-26.
_NEGLIGIBLE = -60.0


class PairwiseKernel(Hashable, Protocol):
    """Logits between two sets of points, and how their gradients flow back."""

    def logits(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """Logits [b, M] of anchors [b, d] against candidates, transposed: [d, M]."""
        ...

    def pullback(self, anchors: Tensor, candidates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of Σ weights · logits: [b, d] for the anchors, [d, M] for the transposed candidates."""
        ...


def mean_log_partition(
    kernel: PairwiseKernel,
    anchors: Tensor,
    candidates: Tensor,
    *,
    temperature: float = 1.0,
    extra_logits: Tensor | None = None,
    excluded: tuple[int, ...] = (),
) -> Tensor:
    """Mean over anchors i of log(exp(extra_i) + Σ_j exp(φ(u_i, c_j) / τ)), differentiable in all three tensors.

    Args:
        kernel: The similarity φ; must be hashable.
        anchors: Points u, [B, d].
        candidates: Points c, [M, d].
        temperature: τ.
        extra_logits: Logits of one more term for each anchor, [B] (the positive, in Eq. 1); none if not given.
        excluded: Offsets o of pairs (i, i + o) left out of the sum (an anchor itself, in in-batch negatives).
    """
    if extra_logits is None:
        extra_logits = anchors.new_full((anchors.shape[0],), -math.inf)
    # Sums over many pairs need more digits than 16-bit codes have.
    points = [value.float() if value.dtype in _SHORT else value for value in (anchors, candidates, extra_logits)]
    value: Tensor = _MeanLogPartition.apply(*points, kernel, temperature, excluded)  # type: ignore[no-untyped-call]
    return value


class _MeanLogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        anchors: Tensor,
        candidates: Tensor,
        extra_logits: Tensor,
        kernel: PairwiseKernel,
        temperature: float,
        excluded: tuple[int, ...],
    ) -> Tensor:
        anchors, candidates, extra_logits = anchors.detach(), candidates.detach(), extra_logits.detach()
        count, pairs = anchors.shape[0], anchors.shape[0] * candidates.shape[0]
        stages = _stages(kernel, pairs >= _COMPILE_FROM_PAIRS and _can_compile(anchors.device.type))
        transposed = candidates.T.contiguous()
        rows = max(_LEAST_ROWS, _BLOCK_ENTRIES // candidates.shape[0])
        total = anchors.new_zeros(())
        to_candidates = torch.zeros_like(transposed)
        to_anchors, to_extra = torch.empty_like(anchors), torch.empty_like(extra_logits)
        with torch.autocast(anchors.device.type, enabled=False):
            for start in range(0, count, rows):
                part = slice(start, start + rows)
                logits = stages.logits(anchors[part], transposed, 1 / temperature)
                for offset in excluded:
                    logits.diagonal(start + offset).fill_(-math.inf)
                log_partition, weights, to_extra[part] = stages.softmax(logits, extra_logits[part])
                del logits
                total += log_partition.sum()
                if any(ctx.needs_input_grad):
                    to_anchors[part], across = stages.pullback(anchors[part], transposed, weights, 1 / temperature)
                    to_candidates += across
        ctx.save_for_backward(to_anchors / count, to_candidates.T / count, to_extra / count)
        return total / count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        to_anchors, to_candidates, to_extra = ctx.saved_tensors
        return upstream * to_anchors, upstream * to_candidates, upstream * to_extra, None, None, None


class _Stages(NamedTuple):
    """The three passes over one block of anchors against all candidates.

    Kept apart on purpose: fused into one, the compiler computes the weights anew for each of the many sums they are in.
    """

    logits: Callable[[Tensor, Tensor, float], Tensor]
    softmax: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]
    pullback: Callable[[Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor]]


@functools.cache
def _stages(kernel: PairwiseKernel, compiled: bool) -> _Stages:
    def logits(anchors: Tensor, candidates: Tensor, inverse_temperature: float) -> Tensor:
        return kernel.logits(anchors, candidates) * inverse_temperature

    def pullback(
        anchors: Tensor, candidates: Tensor, weights: Tensor, inverse_temperature: float
    ) -> tuple[Tensor, Tensor]:
        up, across = kernel.pullback(anchors, candidates, weights)
        return up * inverse_temperature, across * inverse_temperature

    if not compiled:
        return _Stages(logits, _softmax, pullback)
    # The limit counts all similarities and dimensions of a process together, and eight are soon used up.
    torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
    return _Stages(_fused(logits), _fused(_softmax), _fused(pullback))


def _fused(stage: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled stage; the stage itself, with a warning, if the compiler turns out not to work."""
    from torch._dynamo.exc import TorchDynamoException  # takes seconds to import

    compiled = torch.compile(stage, dynamic=True)
    works = True

    def call(*arguments: Any) -> Any:
        nonlocal works
        if works:
            try:
                return compiled(*arguments)
            except TorchDynamoException as error:
                works = False
                reason = str(error).strip().splitlines()[0]
                warnings.warn(f"compiling the loss failed, so it runs more slowly: {reason}", stacklevel=2)
        return stage(*arguments)

    return call


def _softmax(logits: Tensor, extra_logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log-partition of each row with its extra term, weights of the row's entries, weight of that term."""
    peak = torch.maximum(logits.amax(dim=1), extra_logits)
    behind = logits - peak[:, None]
    # Smaller ones change no sum, but processors take a hundred times as long for numbers near the smallest there are.
    exponentials = torch.where(behind > _NEGLIGIBLE, behind.clamp_min(_NEGLIGIBLE).exp(), 0.0)
    extra_exponential = (extra_logits - peak).exp()
    normaliser = exponentials.sum(dim=1) + extra_exponential
    return peak + normaliser.log(), exponentials / normaliser[:, None], extra_exponential / normaliser


@functools.cache
def _can_compile(device: str) -> bool:
    """Whether `torch.compile` has what it needs: a C++ compiler on the CPU, Triton elsewhere."""
    if os.environ.get("IDENTICA_COMPILE", "1") == "0":
        return False
    if device == "cpu":
        return any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "g++", "clang++"))
    return importlib.util.find_spec("triton") is not None
