"""Commands that check the paper's statements by numbers."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from identica import _checks
from identica._checks import InputError
from identica.cli._app import AsJson, Commands, app, existing_store
from identica.cli._options import Overwrite, RunOptions, Seed, takes
from identica.cli._outputs import check_picture
from identica.cli._runs import chosen_seeds, collect

if TYPE_CHECKING:
    from identica.experiments import Run, RunStore
    from identica.models import Model
    from identica.sources import Synthetic

__all__ = ["maps", "theorem1", "theorem6", "uniformity", "volumes"]

theory = Commands(help="Check the paper's statements by numbers.", no_args_is_help=True)
app.add_typer(theory, name="theory")

Store = Annotated[Path, typer.Argument(metavar="DIR", help="A run store with codes, as `reproduce` makes it.")]
Picture = Annotated[Path | None, typer.Option("--picture", help="Draw it too: a .png, .pdf or .svg file.")]

# Rows of an unbounded model with pairs to match, and its exponent α.
_WITHOUT_BOUNDS = {"t2-06": 1, "t2-08": 2, "t2-07": 3}
_VOLUME_SAMPLES = 2048


@theory.callback()
def _theory() -> None:
    """Check the paper's statements by numbers."""


@theory.command()
def theorem1(
    least: Annotated[int, typer.Option("--least", help="The smallest number of negatives is two to this power.")] = 4,
    most: Annotated[int, typer.Option("--most", help="The largest number of negatives is two to this power.")] = 18,
    anchors: Annotated[int, typer.Option("--anchors", help="Number of pairs.")] = 512,
    seed: Seed = 0,
    picture: Picture = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """InfoNCE less log M becomes a cross-entropy (Theorems 1 and 3): the gap between them, in nats."""
    from identica.report import plot_limit
    from identica.theory import CASES, TOO_NARROW, measure_limit

    for name, power in (("--least", least), ("--most", most)):
        _checks.at_least_one(name, power)
    if least > most:
        raise InputError(f"--least must be at most --most, got {least} and {most}")
    check_picture(picture, overwrite=overwrite)
    powers = [*range(least, most, 2), most]
    sizes = [2**power for power in powers]
    found = [measure_limit(case, sizes, anchors=anchors, seed=seed) for case in CASES]
    narrow = measure_limit(TOO_NARROW, sizes, anchors=anchors, seed=seed)
    if picture is not None:
        plot_limit([*found, narrow], picture)
    if as_json:
        print(json.dumps({"cases": [limit.summary() for limit in found], "too_narrow": narrow.summary()}))
        return
    header = "".join(f"{f'2^{power}':>9}" for power in powers)
    print(f"{'gap in nats by number of negatives':<56}{header}   ± (last)  cross-entropy")
    for limit in [*found, narrow]:
        gaps = "".join(f"{gap:9.4f}" for gap in limit.gaps)
        print(f"{limit.case:<56}{gaps}  {limit.bands[-1]:9.4f}  {limit.cross_entropy:13.3f}")
    shared, log_most = -narrow.cross_entropy, math.log(sizes[-1])
    print(
        f"\nPairs of the last line share {shared:.1f} nats, and log M is {log_most:.1f}: a gap closes when log M is\n"
        "well above what pairs share, and each nat more takes e times as many negatives."
    )


@theory.command()
def maps(folder: Store, picture: Picture = None, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """Which map of the factors explains the codes of trained encoders (Propositions 1, 2 and 4): R² in percent."""
    from identica.report import plot_similarities
    from identica.theory import explain, similarities

    check_picture(picture, overwrite=overwrite)
    store = existing_store(folder)
    found, pairs, slopes = [], {}, {}
    for name, label, run in _contrastive(store):
        arrays, model = store.arrays(name), _model(run)
        explained = explain(arrays["factors"], arrays["codes"], model.similarity)
        conditional = _source(run).conditional
        matched = None if conditional is None else model.similarity.matched_slope(conditional)
        found.append(
            {
                **_describe(run),
                "promised": model.ambiguity,
                **explained.summary(),
                "matched slope": None if matched is None else round(matched, 4),
            }
        )
        title = f"{label}: {model}"
        pairs[title] = similarities(arrays["factors"], arrays["codes"], model.similarity)
        slopes[title] = matched
    if picture is not None:
        plot_similarities(pairs, slopes, picture)
    _show(found, as_json)


@theory.command()
def volumes(folder: Store, picture: Picture = None, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """The volume ratio of trained maps over the support (Appendix A.5): 1 if volumes are kept, 0 if they are lost."""
    import torch

    from identica.experiments import restore
    from identica.report import plot_volumes
    from identica.spaces import Sphere
    from identica.theory import measure_volume

    check_picture(picture, overwrite=overwrite)
    store = existing_store(folder)
    found, measured = [], {}
    for name, label, run in _contrastive(store):
        space = _source(run).space
        if isinstance(space, Sphere) != isinstance(_model(run).space, Sphere):
            print(f"{name}: left out, a map between a sphere and another space has no volume ratio", file=sys.stderr)
            continue
        restored = restore(store, name)
        latents = torch.from_numpy(store.arrays(name)["factors"][:_VOLUME_SAMPLES])
        volume = measure_volume(restored.h, latents, space)
        measured[label] = volume
        found.append({**_describe(run), **volume.summary()})
    if not found:
        raise InputError(f"DIR must hold runs from a sphere to a sphere or from no sphere to none, got {str(folder)!r}")
    if picture is not None:
        plot_volumes(measured, picture)
    _show(found, as_json)


@theory.command()
@takes(RunOptions)
def theorem6(options: RunOptions) -> None:
    """Without bounds, α = 2 leaves a rotation open; α = 1 and α = 3 do not (Theorem 6): R² against MCC."""
    from identica.experiments import RunStore, find_rows, plan
    from identica.theory import explain

    runs = plan(find_rows(_WITHOUT_BOUNDS), chosen_seeds(options.seeds), steps=options.steps)
    records, store = collect(runs, options), RunStore(options.out)
    found = []
    for run in runs:
        arrays, scores = store.arrays(run.name), records[run.name]["scores"]
        explained = explain(arrays["factors"], arrays["codes"], _model(run).similarity).summary()
        found.append(
            {
                "α": _WITHOUT_BOUNDS[run.title],
                "row": run.title,
                "seed": run.seed,
                "R²": round(scores["r2"]["value"], 2),
                "MCC": round(scores["mcc"]["value"], 2),
                "orthogonal": explained["orthogonal"],
                "permutation": explained["permutation"],
            }
        )
    _show(found, options.as_json)


@theory.command()
def uniformity(
    steps: Annotated[int, typer.Option("--steps", help="Number of updates with the whole loss.")] = 1500,
    seed: Seed = 0,
    picture: Picture = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """What each half of InfoNCE is for (Appendix A.5): take one away, and see which volumes h keeps."""
    from identica.report import plot_volumes
    from identica.theory import train_with_parts_of_loss

    _checks.at_least_one("--steps", steps)
    check_picture(picture, overwrite=overwrite)
    found = train_with_parts_of_loss(steps=steps, seed=seed)
    if picture is not None:
        plot_volumes({kept.loss: kept.volume for kept in found}, picture)
    _show([kept.summary() for kept in found], as_json)


class _Stored(NamedTuple):
    """A run of a store: its name, what a picture calls it, and what was trained."""

    name: str
    label: str
    run: Run


def _contrastive(store: RunStore) -> list[_Stored]:
    """All runs without labels. Labels are rows and seeds, or full names where others share these."""
    from dataclasses import replace

    from identica.experiments import rows_of_record
    from identica.experiments.restore import run_of
    from identica.learners import Contrastive

    runs = {}
    for name in store.names():
        record = store.load(name)
        if record is not None and record["settings"]["learner"]["type"] == Contrastive.__name__:
            rows = ", ".join(row.id for row in rows_of_record(record))
            runs[name] = replace(run_of(record), title=rows or "own")
    if not runs:
        raise InputError(f"DIR must hold finished contrastive runs, but there are none in {str(store.root)!r}")
    count = Counter(run.label for run in runs.values())
    return [_Stored(name, run.label if count[run.label] == 1 else name, run) for name, run in runs.items()]


def _model(run: Run) -> Model:
    from identica.learners import Contrastive

    assert isinstance(run.learner, Contrastive)
    return run.learner.model


def _source(run: Run) -> Synthetic:
    from identica.sources import Synthetic

    assert isinstance(run.source, Synthetic)
    return run.source


def _describe(run: Run) -> dict[str, Any]:
    return {"row": run.title, "seed": run.seed, "process": str(run.source), "model": str(run.learner)}


def _show(lines: Sequence[dict[str, Any]], as_json: bool) -> None:
    """A table in Markdown, or JSON."""
    if as_json:
        print(json.dumps({"runs": lines}, ensure_ascii=False))
        return
    print("| " + " | ".join(lines[0]) + " |\n" + "| --- " * len(lines[0]) + "|")
    for line in lines:
        print("| " + " | ".join("–" if value is None else str(value) for value in line.values()) + " |")
