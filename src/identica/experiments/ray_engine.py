"""Runs on a Ray cluster: many machines that share one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from identica._checks import InputError
from identica._side_by_side import given_to
from identica.experiments._cluster import MOST_LOSSES, RayWorkers, connected, one_line
from identica.experiments.engines import Listen, Outcome, Progress, attempt, finished
from identica.experiments.runner import Run
from identica.experiments.store import Record, RunStore

__all__ = ["RayEngine"]


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
        trackers: Which keep curves while runs train, of `identica.training.TRACKERS`.
    """

    workers: int = 1
    device: str = "auto"
    address: str | None = None
    trackers: tuple[str, ...] = ()

    def compute(self, runs: Sequence[Run], store: RunStore, listen: Listen | None = None) -> Iterator[Outcome]:
        """Yield an outcome for each run, as they end."""
        done, unfinished = finished(runs, store, self.device)
        yield from done
        if unfinished:
            shared = RunStore(store.root.absolute())
            with connected(self.address, self.workers) as ray:
                yield from self._computed(ray, unfinished, shared, listen)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Take the work of all that is done side by side within the block: `select`, `consistency`, `write_set`."""
        with connected(self.address, self.workers) as ray, given_to(RayWorkers(ray, self.workers, self.device)):
            yield

    def _computed(self, ray: Any, runs: Sequence[Run], store: RunStore, listen: Listen | None) -> Iterator[Outcome]:
        """Keep as many tasks under way as there are workers; a task whose worker is lost is given out again."""
        task = ray.remote(num_cpus=1, max_retries=0, num_gpus=int(self.device == "cuda"))(compute_run)
        waiting, active, losses = list(reversed(runs)), dict[Any, Run](), Counter[str]()
        while waiting or active:
            while waiting and len(active) < self.workers:
                run = waiting.pop()
                active[task.remote(run, store, self.device, self.trackers)] = run
            (reference, *_), _ = ray.wait(list(active))
            run = active.pop(reference)
            try:
                outcome = _outcome(run, store, ray.get(reference))
            except ray.exceptions.RayTaskError as error:
                outcome = Outcome(run, error=one_line(error.cause))
            except ray.exceptions.RayError as error:
                losses[run.name] += 1
                if losses[run.name] < MOST_LOSSES:
                    waiting.append(run)
                    continue
                outcome = Outcome(run, error=f"its worker was lost {MOST_LOSSES} times: {one_line(error)}")
            if listen is not None and outcome.record is not None:
                listen(_end_of(outcome.record, run))
            yield outcome


def compute_run(run: Run, store: RunStore, device: str, trackers: Sequence[str] = ()) -> str | None:
    """What a task does: the record goes to the store, and an error is given back."""
    try:
        return attempt(run, store, device, None, trackers).error
    except InputError as error:
        return str(error)


def _end_of(record: Record, run: Run) -> Progress:
    """News of a run that has ended; while it is under way, its worker tells none."""
    last = record["curve"][-1]
    scores = {name: last[name] for name in run.scores if name in last}
    return Progress(run.name, run.recipe.steps, last["loss"], scores)


def _outcome(run: Run, store: RunStore, error: str | None) -> Outcome:
    record = None if error is not None else store.load(run.name)
    if record is None and error is None:
        error = f"its record is not in {str(store.root)!r}: the store must be a folder that all machines share"
    return Outcome(run, record, error)
