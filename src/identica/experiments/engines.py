"""Where runs are computed. An engine takes runs and yields outcomes; the runner does not know which one it is in."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.queues import Queue
from typing import Any, NamedTuple, Protocol, final

from identica.experiments.runner import Run, execute
from identica.experiments.store import Record, RunStore
from identica.training import DivergenceError

__all__ = ["Engine", "Listen", "LocalEngine", "Outcome", "Progress"]

_SECONDS_BETWEEN_REPORTS = 0.2


class Progress(NamedTuple):
    """How far a run is."""

    name: str
    step: int
    loss: float
    scores: Mapping[str, float]


@final
@dataclass(frozen=True)
class Outcome:
    """A run's record, or why it has none."""

    run: Run
    record: Record | None = None
    error: str | None = None


Listen = Callable[[Progress], None]


class Engine(Protocol):
    """Computes runs in any order and place; finished ones come from the store."""

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        ...


@final
@dataclass(frozen=True)
class LocalEngine:
    """This machine: one run after the other, or several side by side in processes of their own.

    Args:
        workers: How many runs at a time.
        device: As in `identica.training.train`.
    """

    workers: int = 1
    device: str = "auto"

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        unfinished = {run.name: run for run in runs if store.load(run.name) is None}
        for run in runs:
            if run.name not in unfinished:
                yield Outcome(run, store.load(run.name))
        if min(self.workers, len(unfinished)) > 1:
            yield from self._side_by_side(list(unfinished.values()), store, listen)
        else:
            for run in unfinished.values():
                yield _attempt(run, store, self.device, listen)

    def _side_by_side(self, runs: Sequence[Run], store: RunStore, listen: Listen | None) -> Iterator[Outcome]:
        context = multiprocessing.get_context("spawn")
        messages: Queue[Progress | None] = context.Queue()
        listener = threading.Thread(target=_forward, args=(messages, listen), daemon=True)
        listener.start()
        # A process for each run: its peak memory is its own, and nothing leaks into the next.
        pool = ProcessPoolExecutor(
            self.workers, mp_context=context, initializer=_start_worker, initargs=(messages,), max_tasks_per_child=1
        )
        futures: list[Future[Outcome]] = [pool.submit(_work, run, store, self.device) for run in runs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            messages.put(None)
            listener.join(timeout=5)


def _attempt(run: Run, store: RunStore, device: str, listen: Listen | None) -> Outcome:
    last = 0.0

    def report(step: int, loss: float, scores: Mapping[str, float]) -> None:
        nonlocal last
        now = time.monotonic()
        if listen is not None and (now - last >= _SECONDS_BETWEEN_REPORTS or step == run.protocol.steps):
            last = now
            listen(Progress(run.name, step, loss, scores))

    try:
        return Outcome(run, execute(run, store, device=device, report=report))
    except DivergenceError as error:
        return Outcome(run, error=str(error))


_worker: dict[str, Any] = {}


def _start_worker(messages: Queue[Progress | None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end at once and silently: the checkpoint is always whole
    _worker["messages"], _worker["parent"] = messages, os.getppid()


def _work(run: Run, store: RunStore, device: str) -> Outcome:
    return _attempt(run, store, device, _send)


def _send(progress: Progress) -> None:
    if os.getppid() != _worker["parent"]:  # whoever asked for this run is gone
        os._exit(1)
    _worker["messages"].put(progress)


def _forward(messages: Queue[Progress | None], listen: Listen | None) -> None:
    while (progress := messages.get()) is not None:
        if listen is not None:
            listen(progress)
