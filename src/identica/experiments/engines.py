"""Where runs are computed. An engine takes runs and yields outcomes; the runner does not know which one it is in."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import NamedTuple, Protocol, final

from identica._checks import InputError
from identica._files import InUseError, StorageError
from identica._machine import usable_threads
from identica.experiments.runner import Run, execute
from identica.experiments.store import Record, RunStore
from identica.training import DivergenceError

__all__ = ["Engine", "Listen", "LocalEngine", "Outcome", "Progress", "attempt", "finished"]

_SECONDS_BETWEEN_REPORTS = 0.2
# How long a process that is asked to end may take to finish its step and to write its checkpoint.
_SECONDS_TO_END = 20.0


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
"""Is told how far each run is."""


class Engine(Protocol):
    """Computes runs in any order and place; finished ones come from the store."""

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        ...

    def serving(self) -> AbstractContextManager[None]:
        """Take the work of all that is done side by side within the block: `select`, `consistency`, `write_set`."""
        ...


@final
@dataclass(frozen=True)
class LocalEngine:
    """This machine: one run after the other, or several side by side in processes of their own.

    Args:
        workers: How many runs at a time.
        device: As in `identica.training.train`.
        trackers: Which keep curves while runs train, of `identica.training.TRACKERS`.
    """

    workers: int = 1
    device: str = "auto"
    trackers: tuple[str, ...] = ()

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        done, unfinished = finished(runs, store, self.device)
        yield from done
        if min(self.workers, len(unfinished)) > 1:
            yield from self._side_by_side(unfinished, store, listen)
        else:
            for run in unfinished:
                yield attempt(run, store, self.device, listen, self.trackers)

    def serving(self) -> AbstractContextManager[None]:
        """Nothing changes: `n_jobs` and `workers` say how many processes there are."""
        return nullcontext()

    def _side_by_side(self, runs: Sequence[Run], store: RunStore, listen: Listen | None) -> Iterator[Outcome]:
        """A process for each run: its peak memory is its own, and nothing leaks into the next."""
        context = multiprocessing.get_context("spawn")
        waiting, active = list(reversed(runs)), dict[Connection, tuple[Run, SpawnProcess]]()
        try:
            while waiting or active:
                while waiting and len(active) < self.workers:
                    run = waiting.pop()
                    # A pipe for each process: a shared queue stays locked if a process is killed while it writes.
                    receiver, sender = context.Pipe(duplex=False)
                    work = run, store, self.device, sender, max(1, usable_threads() // self.workers), self.trackers
                    process = context.Process(target=_work, args=work, daemon=True)
                    process.start()
                    sender.close()
                    active[receiver] = run, process
                ready = wait(list(active))
                for receiver in [connection for connection in active if connection in ready]:
                    run, process = active[receiver]
                    message = _next_message(receiver, process)
                    if isinstance(message, _Ended):
                        del active[receiver]
                        process.join()
                        yield Outcome(run, store.load(run.name), message.error)
                    elif listen is not None:
                        listen(message)
        finally:
            _end([process for _, process in active.values()])


def finished(runs: Sequence[Run], store: RunStore, device: str) -> tuple[Iterator[Outcome], list[Run]]:
    """Outcomes of runs that are in the store, and the others, each once."""
    unfinished = {run.name: run for run in runs if store.load(run.name) is None}
    done = [run for run in runs if run.name not in unfinished]
    return (Outcome(run, execute(run, store, device=device)) for run in done), list(unfinished.values())


class _Ended(NamedTuple):
    """The last message of a run's process."""

    error: str | None


def _next_message(receiver: Connection, process: SpawnProcess) -> Progress | _Ended:
    try:
        message: Progress | _Ended = receiver.recv()
    except (EOFError, OSError):  # it died without a last word
        process.join()
        return _Ended(f"its process ended with code {process.exitcode}")
    return message


def attempt(run: Run, store: RunStore, device: str, listen: Listen | None, trackers: Sequence[str] = ()) -> Outcome:
    """Compute a run here; what can go wrong with it becomes its outcome."""
    last = 0.0

    def report(step: int, loss: float, scores: Mapping[str, float]) -> None:
        nonlocal last
        now = time.monotonic()
        if listen is not None and (now - last >= _SECONDS_BETWEEN_REPORTS or step == run.recipe.steps):
            last = now
            listen(Progress(run.name, step, loss, scores))

    try:
        return Outcome(run, execute(run, store, device=device, report=report, trackers=trackers))
    except (DivergenceError, InUseError, StorageError) as error:
        return Outcome(run, error=str(error))


def _work(run: Run, store: RunStore, device: str, sender: Connection, threads: int, trackers: Sequence[str]) -> None:
    """What the process of a run does, with its share of the cores."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # end silently, in training after the checkpoint is written
    try:
        sender.send(_Ended(attempt(run, store, device, sender.send, trackers).error))
    except InputError as error:
        sender.send(_Ended(str(error)))
    except BrokenPipeError:  # whoever asked for this run is gone
        os._exit(1)


def _end(processes: Sequence[SpawnProcess]) -> None:
    """Ask processes to end, and end those that do not."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _SECONDS_TO_END
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
