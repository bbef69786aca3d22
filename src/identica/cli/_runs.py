"""What commands that train share: the choice of seeds, and the progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import typer

from identica import _checks
from identica._checks import InputError
from identica._launched import launched
from identica._places import check_folder
from identica.cli import _values
from identica.cli._app import FAILED
from identica.cli._options import RunOptions
from identica.cli._said import kept_if_interrupted

if TYPE_CHECKING:
    from identica.experiments import Run
    from identica.experiments.store import Record

__all__ = ["chosen_seeds", "collect"]

_GOES_ON = "the same command goes on from the last checkpoint"


def chosen_seeds(count: int | None, one: int | None = None) -> list[int]:
    """The seeds that --seeds and --seed ask for."""
    if count is not None and one is not None:
        raise InputError("give --seeds (how many) or --seed (which one), not both")
    if one is not None:
        return [_checks.seed("--seed", one)]
    return list(range(_checks.at_least_one("--seeds", 1 if count is None else count)))


def collect(
    runs: Sequence[Run], options: RunOptions, show: Callable[[Record], None] | None = None
) -> dict[str, Record]:
    """Compute the runs behind a progress bar; exit with code 1 at the end if some diverged."""
    if options.jobs is not None:
        _checks.at_least_one("--jobs", options.jobs)
    check_folder("--out", options.out)
    from identica._progress import progress_bars
    from identica.experiments import RunStore, make_engine
    from identica.training import check_trackers, resolve_device

    at_once = options.jobs or (os.cpu_count() or 1)
    if any(run.recipe.training.threads == 0 for run in runs) and options.jobs is None:
        at_once = 1  # such a run takes all cores by itself
    if launched().size > 1:
        if options.engine != "local" or (at_once > 1 and options.jobs is not None):
            raise InputError("several processes that share each batch compute one run at a time, with --engine local")
        at_once = 1
    store, trackers = RunStore(options.out), tuple(_values.names(options.track) or ())
    if launched().is_first:
        check_trackers(trackers, store.tracking)
    engine = make_engine(options.engine, at_once, resolve_device(options.device), options.address, trackers)
    records, failures = {}, []
    with kept_if_interrupted(_GOES_ON), progress_bars(runs) if launched().is_first else nullcontext(None) as listen:
        for outcome in engine.compute(runs, store, listen):
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
