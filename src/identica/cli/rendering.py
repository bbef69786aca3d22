"""Pictures of 3DIdent."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from identica import _checks
from identica.cli._app import AsJson, app
from identica.cli._engines import chosen_engine
from identica.cli._options import Address, EngineName

__all__ = ["render"]


@app.command()
def render(
    count: Annotated[int, typer.Option("--count", help="How many pictures.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the set; the same command goes on with what it lacks.")],
    size: Annotated[int, typer.Option("--size", help="Pixels of a side.")] = 64,
    seed: Annotated[int, typer.Option("--seed", help="Of the latents.")] = 0,
    layout: Annotated[
        str, typer.Option("--layout", help="files (a PNG for each, as released) or array (images.npy).")
    ] = "files",
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", help="Render also a partner for each, by a law such as 'normal(sigma=0.1)'."),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", help="Rays through a pixel.")] = 4,
    workers: Annotated[int | None, typer.Option("--jobs", help="Processes; default: one per core.")] = None,
    engine: EngineName = "local",
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Render pictures of a teapot under a spotlight with their ten latents, as in 3DIdent."""
    from identica._progress import rendering_bar
    from identica.laws import parse_law
    from identica.rendering import LAYOUTS, RenderedSet, write_set

    for name, number in (("--count", count), ("--size", size), ("--samples", samples)):
        _checks.at_least_one(name, number)
    at_once = _checks.at_least_one("--jobs", workers) if workers is not None else os.cpu_count() or 1
    _checks.choice("--layout", layout, LAYOUTS)
    kind = next(one for one in LAYOUTS if one == layout)
    law = None if pairs is None else parse_law(pairs, 10)
    settings = RenderedSet(count, size, _checks.seed("--seed", seed), kind, law, samples)
    started = time.monotonic()
    chosen = chosen_engine(engine, workers, address)
    with rendering_bar(visible=not as_json) as report, chosen.serving():
        rendered = write_set(settings, out, workers=at_once, report=report)
    seconds = time.monotonic() - started
    speed = rendered / seconds if rendered else None
    if as_json:
        told = {"out": str(out), "rendered": rendered, "seconds": round(seconds, 3), "images_per_second": speed}
        print(json.dumps(told | settings.to_dict() | {"workers": at_once}))
    elif speed is None:
        print(f"all pictures are in {out} already")
    else:
        print(f"{rendered} pictures of {size} × {size} in {out}: {speed:.0f} a second")
