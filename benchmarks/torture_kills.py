"""Processes that are killed at random moments, and what they leave."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import identica.training
from identica._files import locked, replacing
from identica.experiments import Row, Run, RunStore, execute
from identica.laws import Laplace
from identica.learners import AlignUniform, Contrastive, LearnerSettings
from identica.models import Model
from identica.report import make_table, report_of_run, write_page
from identica.sources import Synthetic
from identica.spaces import Box, Real

Job = Callable[[Path], None]

# Costs are times, and differ between any two processes.
_DIFFER = {"cost.json", ".lock"}
_STEPS = 300


def run_of(learner: LearnerSettings, supervised: bool = False) -> Run:
    """A run of about a second."""
    row = Row("torture", Synthetic(Box(3), Laplace(0.1)), learner)
    run = row.baseline(0) if supervised else row.run(0)
    training = replace(run.recipe.training, steps=_STEPS, batch_size=64)
    return replace(run, recipe=replace(run.recipe, training=training))


def jobs(store: Path) -> dict[str, Job]:
    """What is killed: training, a table with its records, and a page."""
    contrastive = Contrastive(Model(Box(3), "laplace"))
    runs = {
        "training": run_of(contrastive),
        "training with labels": run_of(contrastive, supervised=True),
        "training of L_AU": run_of(AlignUniform(0.5, 1, Real(3))),
    }
    finished = RunStore(store)
    for run in runs.values():
        execute(run, finished, device="cpu")
    found: dict[str, Job] = {name: _training(run) for name, run in runs.items()}

    def table(folder: Path) -> None:
        finished.export(folder)
        with locked(folder), replacing(folder / "table.md") as unfinished:
            unfinished.write_text(make_table(RunStore(folder).records(), "markdown"), encoding="utf-8")

    def page(folder: Path) -> None:
        name = runs["training"].name
        record = finished.load(name)
        assert record is not None
        with locked(folder):
            write_page(report_of_run(record, finished.arrays(name)), folder / "report.html")

    return found | {"table": table, "page": page}


def _training(run: Run) -> Job:
    return lambda folder: void(execute(run, RunStore(folder), device="cpu"))


def void(_: Any) -> None:
    """Nothing is needed of it."""


def torture(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill each job until its share of the kills is reached; compare all that it leaves in the end."""
    identica.training.train.__kwdefaults__["checkpoint_seconds"] = 0.02  # so that many kills hit a save
    chance = random.Random(seed)
    counts = {"kills": 0, "restarts": 0, "compared": 0}
    differences: list[str] = []
    found = jobs(folder / "finished")
    for number, (name, job) in enumerate(found.items()):
        whole, broken = folder / f"{number}-whole", folder / f"{number}-broken"
        started = time.monotonic()
        _end(_start(job, whole))
        usual = time.monotonic() - started
        target = (number + 1) * kills // len(found)
        while True:
            while counts["kills"] < target:
                child = _start(job, broken)
                counts["restarts"] += 1
                time.sleep(chance.uniform(0, usual))
                os.kill(child, signal.SIGKILL)
                if not os.WIFSIGNALED(_end(child)):
                    break  # it was done before
                counts["kills"] += 1
                differences += _unreadable(name, broken)
            if os.waitstatus_to_exitcode(_end(_start(job, broken))) != 0:
                differences.append(f"{name}: the last process failed")
            counts["compared"] += len(_contents(whole))
            differences += _different(name, whole, broken)
            shutil.rmtree(broken)
            if counts["kills"] >= target:
                break
    return counts | {"differences": differences}


def _start(job: Job, folder: Path) -> int:
    """A copy of this process that does the job and ends."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            job(folder)
        except BaseException as error:  # the child must never go on with its parent's work
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child


def _end(child: int) -> int:
    return os.waitpid(child, 0)[1]


def _unreadable(name: str, folder: Path) -> list[str]:
    """What readers say of a store right after a kill; nothing is to be said."""
    try:
        list(RunStore(folder).records())
    except Exception as error:
        return [f"{name}: after a kill, {type(error).__name__}: {error}"]
    return []


def _contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in _DIFFER]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _different(name: str, whole: Path, broken: Path) -> list[str]:
    expected, found = _contents(whole), _contents(broken)
    return [f"{name}: {path} differs" for path in expected | found if expected.get(path) != found.get(path)]
