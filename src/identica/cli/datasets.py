"""Data sets that are made on this machine."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from identica._checks import InputError
from identica.cli._app import AsJson, Commands, app

__all__ = ["kitti_masks"]

group = Commands(help="Make data sets from others.", no_args_is_help=True)
app.add_typer(group, name="data")


@group.command("kitti-masks")
def kitti_masks(
    out: Annotated[Path, typer.Option("--out", help="The file to write, .npz.")],
    annotations: Annotated[
        Path | None,
        typer.Option("--annotations", help="Folder of kitti_mots/ and mots20/; default: IDENTICA_DATA, or your cache."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Cut the masks of pedestrians from annotations of KITTI-MOTS and MOTSChallenge, into one file."""
    from identica.sources.annotations import annotation_files
    from identica.sources.kitti_masks import make_masks

    if annotations is not None and not annotations.is_dir():
        raise InputError(f"--annotations must be a folder, got {str(annotations)!r}, which is none")
    if out.is_dir():
        raise InputError(f"--out must be a file, got {str(out)!r}, which is a folder")
    started = time.monotonic()
    manifest = make_masks(annotation_files(annotations), out)
    seconds = round(time.monotonic() - started, 2)
    if as_json:
        print(json.dumps({"path": str(out), **manifest, "seconds": seconds}))
        return
    print(
        f"{manifest['sequences']} sequences, {manifest['transitions']} transitions and {manifest['frames']} frames of "
        f"{manifest['tracks']} people from {len(manifest['sources'])} videos, in {seconds:.0f} s\nmasks in {out}"
    )
