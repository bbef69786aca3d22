"""Several processes that share one batch: who they are, and how their numbers come together.

Each rank holds an equal part of the batch. Its loss is the mean over its own part, and what crosses ranks passes
gradients back to all of them, so that the mean of the ranks' gradients is the gradient of the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from identica._launched import ALONE, Ranks

__all__ = ["gathered", "mean_over_ranks", "ranks", "together", "wait_for_all"]


_current: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def ranks() -> Ranks:
    """The ranks that share the batch under way: one outside of `together`, whatever was launched."""
    return _current.get()


@contextmanager
def together(shared: Ranks) -> Iterator[None]:
    """Within the block, batches are shared by these ranks; all of them must go through it alike."""
    token = _current.set(shared)
    try:
        yield
    finally:
        _current.reset(token)


def wait_for_all(shared: Ranks) -> None:
    """Wait until all ranks that have met are here."""
    if shared.size > 1 and torch.distributed.is_initialized():
        torch.distributed.barrier()


def gathered(values: Tensor) -> Tensor:
    """The rows of all ranks, in their order."""
    shared = ranks()
    if shared.size == 1:
        return values
    whole: Tensor = _Gathered.apply(values, shared)  # type: ignore[no-untyped-call]
    return whole


def mean_over_ranks(values: Tensor) -> Tensor:
    """The mean of what the ranks have, which is a mean over the batch if each has that of its part."""
    shared = ranks()
    if shared.size == 1:
        return values
    mean: Tensor = _Mean.apply(values, shared)  # type: ignore[no-untyped-call]
    return mean


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, shared: Ranks) -> Tensor:
        ctx.shared = shared
        pieces = [torch.empty_like(values, memory_format=torch.contiguous_format) for _ in range(shared.size)]
        torch.distributed.all_gather(pieces, values.detach().contiguous())
        return torch.cat(pieces)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return ctx.shared.part(_sum(upstream)), None


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, shared: Ranks) -> Tensor:
        ctx.shared = shared
        return _sum(values.detach()) / shared.size

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return _sum(upstream) / ctx.shared.size, None


def _sum(values: Tensor) -> Tensor:
    total = values.clone(memory_format=torch.contiguous_format)
    torch.distributed.all_reduce(total)
    return total
