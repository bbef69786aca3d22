"""The paper's figures, one of real transitions, and scores while runs trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from identica import _checks
from identica._checks import InputError
from identica._files import replacing
from identica.cli import _values
from identica.cli._app import app, existing_store
from identica.cli._options import ProtocolName, RunOptions, takes
from identica.cli._runs import chosen_seeds, collect

if TYPE_CHECKING:
    from identica.experiments import Row
    from identica.sources import ThreeDIdent

__all__ = ["figure"]

_OUT = Path("figureNAME")


@app.command()
@takes(RunOptions, out=_OUT)
def figure(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="2 or 3, the number of the figure; kitti: how real factors move; curves.",
        ),
    ],
    options: RunOptions,
    points: Annotated[int, typer.Option("--points", help="Figure 2: concentrations in each panel.")] = 9,
    backwards: Annotated[
        bool,
        typer.Option(
            "--backwards", help="Figure 2: train also with the question turned round: which z did this z~ come from?"
        ),
    ] = False,
    images: Annotated[int, typer.Option("--images", help="Figure 3: images along each latent.")] = 7,
    row: Annotated[
        str | None,
        typer.Option(
            "--row",
            help="Figure 3: show also what the encoder of this row, such as t4-01, recovers. curves: only these rows.",
        ),
    ] = None,
    runs: Annotated[Path, typer.Option("--runs", metavar="DIR", help="curves: the run store to draw from.")] = Path(
        "runs"
    ),
    score: Annotated[
        str | None, typer.Option("--score", help="curves: what to draw, such as mcc, loss or held_out_bits.")
    ] = None,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Figure 3: take the nearest images of the data; nothing is rendered.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Figure 3: of the run that --row names.")] = 0,
    protocol: ProtocolName = "fast",
) -> None:
    """Draw Figure 2 (R² against the marginal), 3 (latents of 3DIdent), steps of real masks or curves of runs."""
    _checks.choice("NAME", name, ("2", "3", "kitti", "curves"))
    folder = Path(f"figure{name}" if name.isdecimal() else f"figure-{name}")
    chosen = replace(options, out=folder) if options.out == _OUT else options
    if name == "2":
        _figure2(points, backwards, protocol, chosen)
    elif name == "3":
        _figure3(images, row, nearest, _checks.seed("--seed", seed), protocol, chosen)
    elif name == "kitti":
        _steps(chosen)
    else:
        _curves(runs, row, score, chosen)


def _figure2(points: int, backwards: bool, protocol: str, options: RunOptions) -> None:
    from identica.experiments import plan_figure2
    from identica.recipes import DIRECTIONS
    from identica.report import describe_figure2, draw_figure2, summarise_figure2

    directions = DIRECTIONS if backwards else DIRECTIONS[:1]
    seeds = chosen_seeds(options.seeds)
    plan = plan_figure2(points, seeds, protocol=protocol, steps=options.steps, directions=directions)
    records = collect([point.run for point in plan], options)
    summary = summarise_figure2(plan, records)
    _write("figure2", summary, lambda path: draw_figure2(summary, path), options, describe_figure2(summary))


def _figure3(images: int, row: str | None, nearest: bool, seed: int, protocol: str, options: RunOptions) -> None:
    from identica.experiments import RunStore, find_rows, nearest_images, recover, rendered_images, traverse
    from identica.report import draw_figure3, summarise_figure3
    from identica.sources import ThreeDIdent

    chosen = None if row is None else find_rows([row])[0]
    source = ThreeDIdent(None).available() if chosen is None else _scenes(chosen)
    if nearest:
        traversal = traverse(nearest_images(source.read("test")), images, "nearest test images")
    else:
        pixels = _PIXELS if chosen is None else source.read("test").shape[1]
        traversal = traverse(rendered_images(pixels), images)
    recovered = None
    if chosen is not None:
        run = replace(chosen, source=source).run(seed, protocol, options.steps)
        collect([run], options)
        recovered = recover(RunStore(options.out), run.name, traversal)
    summary = summarise_figure3(traversal, recovered)
    _write("figure3", summary, lambda path: draw_figure3(traversal, path, recovered), options)


_PIXELS = 112


def _scenes(row: Row) -> ThreeDIdent:
    """The source of a row of Tables 4 and 5, with the data that are there."""
    from identica.sources import ThreeDIdent

    if not isinstance(row.source, ThreeDIdent):
        raise InputError(f"--row must be one of Tables 4 and 5, got {row.id!r}")
    return row.source.available()


def _steps(options: RunOptions) -> None:
    """Needs no training: options of runs other than --out and --json do nothing."""
    from identica.report import describe_steps, draw_steps, summarise_steps
    from identica.sources import KittiMasks, MaskPairs

    settings = KittiMasks().available()
    sequences = settings.sequences()
    gaps = {"1 frame": 1, "5 frames": 5}
    steps = {gap: MaskPairs(sequences, lag).steps() for gap, lag in gaps.items()}
    summary = summarise_steps(steps, ("y, pixels", "x, pixels", "area, pixels"), settings.name)
    _write("steps", summary, lambda path: draw_steps(summary, path), options, describe_steps(summary))


def _curves(runs: Path, rows: str | None, score: str | None, options: RunOptions) -> None:
    """From records alone."""
    store = existing_store(runs)
    from identica.experiments import find_rows
    from identica.report import describe_curves, draw_curves, summarise_curves

    wanted = [row.id for row in find_rows(_values.names(rows) or ())]
    summary = summarise_curves(store.records(), wanted, score)
    _write("curves", summary, lambda path: draw_curves(summary, path), options, describe_curves(summary))


def _write(
    name: str, summary: dict[str, Any], draw: Callable[[Path], None], options: RunOptions, text: str = ""
) -> None:
    """The figure in all its forms, and what was written."""
    written = [options.out / f"{name}.{kind}" for kind in ("pdf", "png", "json")]
    for path in written[:2]:
        draw(path)
    with replacing(written[2]) as unfinished:
        unfinished.write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.as_json:
        print(json.dumps(summary))
        return
    print(*([text, ""] if text else []), *map(str, written), sep="\n")
