"""The paper's figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from identica import _checks
from identica._files import replacing
from identica.cli._app import app
from identica.cli._options import ProtocolName, RunOptions, takes
from identica.cli._runs import chosen_seeds, collect

__all__ = ["figure"]


@app.command()
@takes(RunOptions, out=Path("figure2"))
def figure(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The number of the figure: 2.")],
    options: RunOptions,
    points: Annotated[int, typer.Option("--points", help="Concentrations in each panel.")] = 9,
    backwards: Annotated[
        bool,
        typer.Option("--backwards", help="Train also with the question turned round: which z did this z~ come from?"),
    ] = False,
    protocol: ProtocolName = "fast",
) -> None:
    """Regenerate Figure 2: R² against the concentration of the marginal, as PDF, PNG and JSON."""
    _checks.choice("NAME", name, ("2",))
    from identica.experiments import plan_figure2
    from identica.recipes import DIRECTIONS
    from identica.report import describe_figure2, draw_figure2, summarise_figure2

    directions = DIRECTIONS if backwards else DIRECTIONS[:1]
    seeds = chosen_seeds(options.seeds)
    plan = plan_figure2(points, seeds, protocol=protocol, steps=options.max_steps, directions=directions)
    records = collect([point.run for point in plan], options)
    summary = summarise_figure2(plan, records)
    written = [options.out / f"figure2.{kind}" for kind in ("pdf", "png", "json")]
    for path in written[:2]:
        draw_figure2(summary, path)
    with replacing(written[2]) as unfinished:
        unfinished.write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.as_json:
        print(json.dumps(summary))
        return
    print(describe_figure2(summary), *map(str, ["", *written]), sep="\n")
