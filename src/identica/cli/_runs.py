"""What commands that train share: their options, the plan of runs, and the progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from identica import _checks
from identica._checks import InputError
from identica.cli._app import FAILED

if TYPE_CHECKING:
    from identica.experiments import Row, Run
    from identica.experiments.store import Record

__all__ = ["Out", "ProtocolName", "Seed", "Seeds", "Steps", "Workers", "chosen_seeds", "collect", "plan_rows"]

Out = Annotated[Path, typer.Option("--out", help="Folder of the run store; finished runs are never computed again.")]
Seeds = Annotated[int | None, typer.Option("--seeds", help="How many seeds, counted from 0.")]
Seed = Annotated[int | None, typer.Option("--seed", help="One seed.")]
ProtocolName = Annotated[str, typer.Option("--protocol", help="fast (minutes on a laptop) or paper (the authors').")]
Steps = Annotated[int | None, typer.Option("--steps", help="Number of updates instead of the protocol's.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Runs side by side; default: one per core.")]


def chosen_seeds(count: int | None, one: int | None = None) -> list[int]:
    """The seeds that --seeds and --seed ask for."""
    if count is not None and one is not None:
        raise InputError("give --seeds (how many) or --seed (which one), not both")
    if one is not None:
        return [_checks.seed("--seed", one)]
    return list(range(_checks.at_least_one("--seeds", 1 if count is None else count)))


def plan_rows(
    chosen: Sequence[Row], seeds: Sequence[int], protocol: str, steps: int | None, supervised: bool
) -> list[Run]:
    """The runs of some rows, each once."""
    from identica.experiments import Run

    runs = []
    for row in chosen:
        for seed in seeds:
            for with_labels in (False, True)[: 2 if supervised else 1]:
                settings = row.protocol(protocol, supervised=with_labels).with_steps(steps)
                runs.append(Run(row, seed, settings, with_labels))
    return list({run.name: run for run in runs}.values())


def collect(plan: Sequence[Run], out: Path, *, workers: int | None, device: str, show: Any = None) -> dict[str, Record]:
    """Compute the runs behind a progress bar; exit with code 1 at the end if some diverged."""
    from identica._progress import progress_bars
    from identica.experiments import LocalEngine, RunStore
    from identica.training import resolve_device

    if workers is not None:
        _checks.at_least_one("--workers", workers)
    at_once = workers or (os.cpu_count() or 1)
    if any(run.protocol.threads == 0 for run in plan) and workers is None:
        at_once = 1  # such a run takes all cores by itself
    engine, store = LocalEngine(at_once, resolve_device(device)), RunStore(out)
    records, failures = {}, []
    with progress_bars(plan) as listen:
        for outcome in engine.compute(plan, store, listen):
            if outcome.record is None:
                failures.append(f"{outcome.run.label}: {outcome.error}")
                continue
            records[outcome.run.name] = outcome.record
            if show is not None:
                show(outcome.record)
    for failure in failures:
        print(f"identica: {failure}", file=sys.stderr)
    if failures:
        raise typer.Exit(FAILED)
    return records
