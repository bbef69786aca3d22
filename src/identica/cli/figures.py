"""The paper's figures, and one of real transitions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from identica import _checks
from identica._files import replacing
from identica.cli._app import app
from identica.cli._options import ProtocolName, RunOptions, takes
from identica.cli._runs import chosen_seeds, collect

__all__ = ["figure"]


@app.command()
@takes(RunOptions, out=None)
def figure(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="2, the number of the figure, or kitti: how real factors move.")
    ],
    options: RunOptions,
    points: Annotated[int, typer.Option("--points", help="Of figure 2: concentrations in each panel.")] = 9,
    backwards: Annotated[
        bool,
        typer.Option(
            "--backwards", help="Of figure 2: train also with the question turned round: which z did this z~ come from?"
        ),
    ] = False,
    protocol: ProtocolName = "fast",
) -> None:
    """Draw Figure 2 (R² against the concentration of the marginal) or the steps of real masks: PDF, PNG and JSON."""
    chosen = _checks.choice("NAME", name, ("2", "kitti"))
    options = replace(options, out=options.out or Path("figure2" if chosen == "2" else "figure-kitti"))
    if chosen == "2":
        _figure2(options, points, backwards, protocol)
    else:
        _steps(options)


def _figure2(options: RunOptions, points: int, backwards: bool, protocol: str) -> None:
    from identica.experiments import plan_figure2
    from identica.recipes import DIRECTIONS
    from identica.report import describe_figure2, draw_figure2, summarise_figure2

    directions = DIRECTIONS if backwards else DIRECTIONS[:1]
    seeds = chosen_seeds(options.seeds)
    plan = plan_figure2(points, seeds, protocol=protocol, steps=options.steps, directions=directions)
    records = collect([point.run for point in plan], options)
    summary = summarise_figure2(plan, records)
    _write(summary, options, "figure2", draw_figure2, describe_figure2)


def _steps(options: RunOptions) -> None:
    """Needs no training: options of runs other than --out and --json do nothing."""
    from identica.report import describe_steps, draw_steps, summarise_steps
    from identica.sources import KittiMasks, MaskPairs

    settings = KittiMasks().available()
    sequences = settings.sequences()
    gaps = {"1 frame": 1, "5 frames": 5}
    steps = {gap: MaskPairs(sequences, lag).steps() for gap, lag in gaps.items()}
    summary = summarise_steps(steps, ("y, pixels", "x, pixels", "area, pixels"), settings.name)
    _write(summary, options, "steps", draw_steps, describe_steps)


def _write(
    summary: dict[str, Any],
    options: RunOptions,
    name: str,
    draw: Callable[[dict[str, Any], Path], None],
    describe: Callable[[dict[str, Any]], str],
) -> None:
    written = [options.out / f"{name}.{kind}" for kind in ("pdf", "png", "json")]
    for path in written[:2]:
        draw(summary, path)
    with replacing(written[2]) as unfinished:
        unfinished.write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.as_json:
        print(json.dumps(summary))
        return
    print(describe(summary), *map(str, ["", *written]), sep="\n")
