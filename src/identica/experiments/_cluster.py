"""A Ray cluster, and the work that is given to it."""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, final

from identica._checks import InputError

__all__ = ["MOST_LOSSES", "RayWorkers", "connected", "one_line"]

MOST_LOSSES = 5
"""How often the worker of one piece of work may be lost before it is given up."""

_Result = TypeVar("_Result")


@final
@dataclass(frozen=True)
class RayWorkers:
    """Tasks of one core each, or of one GPU.

    Args:
        ray: The library, connected.
        count: How many at a time.
        device: As in `identica.training.train`.
    """

    ray: Any
    count: int
    device: str

    def each(self, work: Callable[..., _Result], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, _Result]]:
        """Yield the number of each task and what `work` gives for it, as they end."""
        ray = self.ray
        done = ray.remote(num_cpus=1, num_gpus=int(self.device == "cuda"), max_retries=MOST_LOSSES)(_done)
        shared = ray.put(work)
        waiting, active = list(enumerate(tasks))[::-1], dict[Any, int]()
        while waiting or active:
            while waiting and len(active) < self.count:
                number, task = waiting.pop()
                active[done.remote(shared, task)] = number
            (reference, *_), _ = ray.wait(list(active))
            number = active.pop(reference)
            try:
                yield number, ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise RuntimeError(f"a worker was lost {MOST_LOSSES} times: {one_line(error)}") from None


def _done(work: Callable[..., _Result], task: tuple[Any, ...]) -> _Result:
    """What a worker does, with copies: arrays that Ray shares between processes cannot be written to."""
    return copy.deepcopy(work)(*copy.deepcopy(task))


@contextmanager
def connected(address: str | None, workers: int) -> Iterator[Any]:
    """The library, connected to a cluster; one that was connected before stays so."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise InputError("the engine ray needs the library ray: pip install 'identica[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    # Ray lets its workers step back behind all else on a machine; here they do what the machine is asked for.
    os.environ.setdefault("RAY_worker_niceness", "0")
    started = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
    try:
        ray.init(**started, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        what = "no Ray cluster could be started here" if address is None else f"no Ray cluster answers at {address!r}"
        raise InputError(f"{what}: {one_line(error)}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def one_line(error: BaseException) -> str:
    """Its message, cut short."""
    return " ".join(str(error).split())[:200]
