"""Options that several commands share, each written once: a dataclass whose fields are the options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from identica.cli._app import AsJson

__all__ = [
    "Address",
    "Array",
    "Columns",
    "Data",
    "EngineName",
    "Exclude",
    "FitOptions",
    "HeldOut",
    "Jobs",
    "Layout",
    "Out",
    "Overwrite",
    "ProtocolName",
    "RunOptions",
    "Seed",
    "Seeds",
    "Steps",
    "Trial",
    "takes",
]

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .tsv, .parquet, .npz, .npy, .h5, .mat, .nwb or .bvh file, or a folder of images or clips.",
    ),
]
Columns = Annotated[str | None, typer.Option("--columns", help="Features to use, separated by commas; default: all.")]
Exclude = Annotated[str | None, typer.Option("--exclude", help="Columns that are no features, separated by commas.")]
Layout = Annotated[
    str, typer.Option("--layout", help="Of an array of three axes: trials [trials, time, channels] or images.")
]
Array = Annotated[str | None, typer.Option("--array", help="Array or series that holds the observations; default: x.")]
Trial = Annotated[
    str | None, typer.Option("--trial", help="Column or array of names of trials; pairs and windows stay within one.")
]
HeldOut = Annotated[
    str,
    typer.Option(
        "--held-out",
        help="Part of the pairs to score, not to fit; auto: 0.15, at most 4096 pairs, and none of very few.",
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Fits or runs side by side; default: one per core.")]
EngineName = Annotated[
    str, typer.Option("--engine", help="Where the work is done: local (this machine) or ray (a Ray cluster).")
]
Address = Annotated[
    str | None, typer.Option("--address", help="Of a Ray cluster, such as auto; default: one on this machine.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at the places to write to.")]
Out = Annotated[Path, typer.Option("--out", help="Folder of the run store; finished runs are never computed again.")]
Seeds = Annotated[int | None, typer.Option("--seeds", help="How many seeds, counted from 0.")]
ProtocolName = Annotated[str, typer.Option("--protocol", help="fast (minutes on a laptop) or paper (the authors').")]
Steps = Annotated[int | None, typer.Option("--steps", help="Number of updates instead of the protocol's.")]
Seed = Annotated[int, typer.Option("--seed", help="Of all that is random; the same one gives the same result.")]


@dataclass(frozen=True)
class FitOptions:
    """How pairs are found in a file, and how they are fitted; the assumption aside."""

    n_components: Annotated[
        int | None, typer.Option("--n-components", help="Number of factors; default: as many as features.")
    ] = None
    widths: Annotated[
        str, typer.Option("--widths", help="free (a width learnt for each component) or equal (one for all).")
    ] = "free"
    axes: Annotated[
        str, typer.Option("--axes", help="learnt, or second-order for --space unbounded --conditional normal.")
    ] = "learnt"
    lag: Annotated[
        str | None,
        typer.Option("--lag", help="Pair each row with the one so many rows later: 3, several as 1,2,5 or 1:5."),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            help="Columns or arrays of measured behaviour, separated by commas: rows with similar (real numbers) or "
            "equal (whole numbers, names) labels are partners; with --lag, those at most so many rows apart.",
        ),
    ] = None
    trial: Trial = None
    pairs: Annotated[
        Path | None, typer.Option("--pairs", help="A csv of partners: two row numbers, or two file names of images.")
    ] = None
    columns: Columns = None
    exclude: Exclude = None
    time: Annotated[
        str | None, typer.Option("--time", help="Column of the time: no feature, and it must rise in each trial.")
    ] = None
    array: Array = None
    layout: Layout = "auto"
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder",
            help="linear, mlp or 'deep mlp'; conv, light, glimpse or resnet for images; auto: by held-out bits.",
        ),
    ] = "auto"
    pca_components: Annotated[
        str,
        typer.Option(
            "--pca-components", help="Keep so many directions of most variance, or all; auto: by held-out bits."
        ),
    ] = "auto"
    scaling: Annotated[
        str,
        typer.Option("--scaling", help="none, sqrt or log1p (counts), robust (outliers); auto: by held-out bits."),
    ] = "auto"
    noise: Annotated[
        str,
        typer.Option("--noise", help="Deviation of noise on observations in training; auto: by held-out bits."),
    ] = "auto"
    window: Annotated[
        str,
        typer.Option("--window", help="With --lag: rows that the encoder sees at a time; auto: by held-out bits."),
    ] = "auto"
    steps: Annotated[
        int | None, typer.Option("--steps", help="Number of updates, of one fit; default: by held-out bits.")
    ] = None
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Time for training.")] = None
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Pairs in an update.")] = None
    device: Device = "auto"
    as_json: AsJson = False


@dataclass(frozen=True)
class RunOptions:
    """How runs are computed, and where they are stored."""

    seeds: Seeds = None
    steps: Steps = None
    jobs: Jobs = None
    device: Device = "auto"
    engine: EngineName = "local"
    address: Address = None
    track: Annotated[
        str | None, typer.Option("--track", help="Keep curves in the store for tensorboard, mlflow, or both.")
    ] = None
    out: Out = Path("runs")
    as_json: AsJson = False


def takes(group: type, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a group, with some other defaults; it gets them as its argument `options`."""
    names = [one.name for one in fields(group)]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints, added = get_type_hints(command, include_extras=True), get_type_hints(group, include_extras=True)
        own = [one for name, one in inspect.signature(command).parameters.items() if name != "options"]
        shared = [
            inspect.Parameter(
                one.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults.get(one.name, one.default),
                annotation=added[one.name],
            )
            for one in fields(group)
        ]

        @functools.wraps(command)
        def call(**given: Any) -> None:
            options = group(**{name: given.pop(name) for name in names})
            command(**given, options=options)

        resolved = [one.replace(annotation=hints[one.name]) for one in own]
        required_first = sorted([*resolved, *shared], key=lambda one: one.default is not inspect.Parameter.empty)
        call.__signature__ = inspect.Signature(required_first)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in required_first}
        return call

    return decorate
