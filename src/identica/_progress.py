"""Progress bars with live loss and scores, on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from identica.experiments.engines import Listen, Progress
    from identica.experiments.runner import Run
    from identica.training import Schedule

__all__ = ["download_bar", "hidden", "progress_bars", "rendering_bar", "scoring_bar", "training_bar"]

hidden: ContextVar[bool] = ContextVar("hidden", default=False)
"""Whether no bar is shown."""


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, quiet=hidden.get())


@contextmanager
def progress_bars(runs: Sequence[Run]) -> Iterator[Listen]:
    """A bar for each run that is under way; what the block gets is called with news of them."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from identica.metrics import symbol

    by_name = {run.name: run for run in runs}
    tasks = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[news]}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=_console(), refresh_per_second=4) as bars:

        def listen(progress: Progress) -> None:
            run = by_name[progress.name]
            if progress.name not in tasks:
                tasks[progress.name] = bars.add_task(run.label, total=run.recipe.steps, news="")
            scores = "  ".join(f"{symbol(name)} {value:.1f}" for name, value in progress.scores.items())
            news = f"loss {progress.loss:.3f}  {scores}"
            bars.update(tasks[progress.name], completed=progress.step, news=news)
            if progress.step == run.recipe.steps:
                bars.update(tasks[progress.name], description=f"{run.label} done")

        yield listen


@contextmanager
def training_bar(schedule: Schedule, visible: bool) -> Iterator[Callable[[int, float], None]]:
    """A bar for one training, with the time left; what the block gets is called with the step and the loss."""
    if not visible:
        yield lambda step, loss: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("training"), BarColumn(), TextColumn("{task.fields[news]}"), TimeRemainingColumn())
    with Progress(*columns, console=_console(), refresh_per_second=4) as bars:
        task, started = bars.add_task("", total=1.0, news=""), time.monotonic()

        def show(step: int, loss: float) -> None:
            done = schedule.progress(step, time.monotonic() - started)
            bars.update(task, completed=min(1.0, done), news=f"step {step}  loss {loss:.3f}")

        yield show


@contextmanager
def download_bar(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar for one file; what the block gets is called with the bytes that came, and with how many there are."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = Progress(*columns, console=_console(), refresh_per_second=4)
    task = bars.add_task("", total=None)

    def show(came: int, expected: int | None) -> None:
        bars.start()  # only now: a file that is there already needs no bar
        bars.update(task, completed=came, total=expected)

    try:
        yield show
    finally:
        bars.stop()


@contextmanager
def scoring_bar(count: int, visible: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar over scores, on a terminal; what the block gets is called with how many are done and what is under way."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = _console()
    columns = (TextColumn("scoring"), BarColumn(), TextColumn("{task.fields[news]}"), TimeElapsedColumn())
    shown = visible and console.is_terminal
    with Progress(*columns, console=console, refresh_per_second=4, transient=True, disable=not shown) as bars:
        task = bars.add_task("", total=count, news="")
        yield lambda done, news: bars.update(task, completed=done, news=news)


@contextmanager
def rendering_bar(visible: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar over pictures; what the block gets is called with how many are there, and how many there will be."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("rendering"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(), refresh_per_second=4, disable=not visible) as bars:
        task = bars.add_task("", total=None)
        yield lambda done, count: bars.update(task, completed=done, total=count)
