"""Pieces of work that are done side by side: on this machine, or where an engine takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

__all__ = ["Workers", "all_done", "current_workers", "given_to"]

_Result = TypeVar("_Result")


class Workers(Protocol):
    """Takes pieces of work; those of a worker that is lost are done by another."""

    def each(self, work: Callable[..., _Result], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, _Result]]:
        """Yield the number of each task and what `work` gives for it, as they end."""
        ...


_current: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current_workers() -> Workers | None:
    """Who takes work within the block of `given_to`; None for this machine."""
    return _current.get()


@contextmanager
def given_to(workers: Workers) -> Iterator[None]:
    """Give all work within the block to these."""
    token = _current.set(workers)
    try:
        yield
    finally:
        _current.reset(token)


def all_done(work: Callable[..., _Result], tasks: Sequence[tuple[Any, ...]], n_jobs: int) -> list[_Result]:
    """What `work` gives for each task, in their order.

    Args:
        work: Depends on nothing but its arguments.
        tasks: Arguments.
        n_jobs: On this machine: processes; -1 for one per core.
    """
    workers = current_workers()
    if workers is None:
        from joblib import Parallel, delayed

        return list(Parallel(n_jobs=n_jobs)(delayed(work)(*task) for task in tasks))
    found = dict(workers.each(work, tasks))
    return [found[number] for number in range(len(tasks))]
