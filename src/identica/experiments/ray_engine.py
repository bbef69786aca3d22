"""Runs on a Ray cluster: many machines that share one folder."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from identica._checks import InputError
from identica.experiments.engines import Listen, Outcome, attempt, finished
from identica.experiments.runner import Run
from identica.experiments.store import RunStore

__all__ = ["RayEngine"]

# How often the worker of one run may be lost before the run is given up.
_MOST_LOSSES = 5
_SECONDS_BETWEEN_NEWS = 0.5


@final
@dataclass(frozen=True)
class RayEngine:
    """A Ray cluster: each run is a task of one core, and of one GPU if it trains there.

    The store must be a folder that all machines share. The runs of a worker that is lost go on from their checkpoints
    on another one; finished runs are never repeated.

    Args:
        workers: How many runs at a time.
        device: As in `identica.training.train`.
        address: Of a cluster that runs already, such as `auto` or `10.0.0.1:6379`; None starts one on this machine,
            for as long as it takes.
    """

    workers: int = 1
    device: str = "auto"
    address: str | None = None

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        done, unfinished = finished(runs, store, self.device)
        yield from done
        if unfinished:
            shared = RunStore(store.root.absolute())
            with _cluster(self.address, self.workers) as ray:
                yield from self._computed(ray, unfinished, shared, listen)

    def _computed(self, ray: Any, runs: Sequence[Run], store: RunStore, listen: Listen | None) -> Iterator[Outcome]:
        """Keep as many tasks under way as there are workers; a task whose worker is lost is given out again."""
        needs = {"num_cpus": 1, "max_retries": 0, "num_gpus": int(self.device == "cuda")}
        task, news = ray.remote(**needs)(compute_run), _news(ray, listen)
        waiting, active, losses = list(reversed(runs)), dict[Any, Run](), Counter[str]()
        while waiting or active:
            while waiting and len(active) < self.workers:
                run = waiting.pop()
                active[task.remote(run, store, self.device, news)] = run
            ready, _ = ray.wait(list(active), timeout=_SECONDS_BETWEEN_NEWS)
            for progress in _told(news):
                if listen is not None:
                    listen(progress)
            for reference in ready:
                run = active.pop(reference)
                try:
                    yield _outcome(run, store, ray.get(reference))
                except ray.exceptions.RayTaskError as error:
                    yield Outcome(run, error=str(error.cause))
                except ray.exceptions.RayError as error:
                    losses[run.name] += 1
                    if losses[run.name] < _MOST_LOSSES:
                        waiting.append(run)
                    else:
                        yield Outcome(run, error=f"its worker was lost {_MOST_LOSSES} times: {_line(error)}")


def compute_run(run: Run, store: RunStore, device: str, news: Any) -> str | None:
    """What a task does: the record goes to the store, and an error is given back."""
    try:
        return attempt(run, store, device, None if news is None else news.put_nowait).error
    except InputError as error:
        return str(error)


def _outcome(run: Run, store: RunStore, error: str | None) -> Outcome:
    record = None if error is not None else store.load(run.name)
    if record is None and error is None:
        error = f"its record is not in {str(store.root)!r}: the store must be a folder that all machines share"
    return Outcome(run, record, error)


@contextmanager
def _cluster(address: str | None, workers: int) -> Iterator[Any]:
    """The library, connected to a cluster; one that was connected before stays so."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise InputError("the engine ray needs the library ray: pip install 'identica[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    started = {"num_cpus": workers, "include_dashboard": False} if address is None else {"address": address}
    try:
        ray.init(**started, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        what = "no Ray cluster could be started here" if address is None else f"no Ray cluster answers at {address!r}"
        raise InputError(f"{what}: {_line(error)}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _news(ray: Any, listen: Listen | None) -> Any:
    """A queue that tasks put their progress into, if anyone listens."""
    if listen is None:
        return None
    queues: Any = importlib.import_module("ray.util.queue")
    return queues.Queue(actor_options={"num_cpus": 0})


def _told(news: Any) -> list[Any]:
    return [] if news is None else list(news.get_nowait_batch(news.qsize()))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
