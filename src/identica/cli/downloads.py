"""Data sets from the network."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from identica.cli._app import AsJson, app
from identica.cli._said import say

__all__ = ["download"]


@app.command()
def download(
    name: Annotated[str, typer.Argument(metavar="NAME", help="dsprites, natural-sprites or kitti-masks.")],
    sha256: Annotated[
        str | None, typer.Option("--sha256", help="A checksum that the file must have; a must for all but dsprites.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Fetch a data set into the folder of data sets: IDENTICA_DATA, or your cache folder."""
    from identica._progress import download_bar
    from identica.datafiles import download as fetch_data_set

    with download_bar(name) as report:
        path, found = fetch_data_set(name, sha256=sha256, report=report)
    if as_json:
        print(json.dumps({"path": str(path), "sha256": found}))
    else:
        say(f"{name} is in {path}\nsha256 {found}")
