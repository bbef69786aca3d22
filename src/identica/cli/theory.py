"""Commands that check the paper's statements by numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from identica import _checks
from identica._checks import InputError
from identica.cli._app import AsJson, app, existing_store

__all__ = ["maps", "theorem1"]

theory = typer.Typer(help="Check the paper's statements by numbers.", rich_markup_mode=None, no_args_is_help=True)
app.add_typer(theory, name="theory")


@theory.callback()
def _theory() -> None:
    """Check the paper's statements by numbers."""


@theory.command()
def theorem1(
    least: Annotated[int, typer.Option("--least", help="The smallest number of negatives is two to this power.")] = 4,
    most: Annotated[int, typer.Option("--most", help="The largest number of negatives is two to this power.")] = 18,
    anchors: Annotated[int, typer.Option("--anchors", help="Number of pairs.")] = 512,
    seed: Annotated[int, typer.Option("--seed", help="Of all draws.")] = 0,
    as_json: AsJson = False,
) -> None:
    """InfoNCE less log M becomes a cross-entropy (Theorems 1 and 3): the gap between them, in nats."""
    from identica.theory import CASES, TOO_NARROW, measure_limit

    for name, power in (("--least", least), ("--most", most)):
        _checks.at_least_one(name, power)
    if least > most:
        raise InputError(f"--least must be at most --most, got {least} and {most}")
    powers = [*range(least, most, 2), most]
    sizes = [2**power for power in powers]
    found = [measure_limit(case, sizes, anchors=anchors, seed=seed) for case in CASES]
    narrow = measure_limit(TOO_NARROW, sizes, anchors=anchors, seed=seed)
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
def maps(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run store with codes, as `reproduce` makes it.")],
    as_json: AsJson = False,
) -> None:
    """Which map of the factors explains the codes of trained encoders (Propositions 1, 2 and 4): R² in percent."""
    from identica.models import Model
    from identica.theory import explain

    store = existing_store(folder)
    found = []
    for name in store.names():
        record = store.load(name)
        assert record is not None
        if record["kind"] == "unsupervised":
            settings, arrays = record["settings"], store.codes(name)
            model = Model(settings["model_space"], settings["model_conditional"])
            explained = explain(arrays["latents"], arrays["codes"], model.similarity)
            found.append(
                {
                    "row": record["row"],
                    "seed": record["seed"],
                    "model": str(model),
                    "promised": model.ambiguity,
                    **explained.summary(),
                }
            )
    if not found:
        raise InputError(f"DIR must hold finished runs, but there are none in {str(folder)!r}")
    if as_json:
        print(json.dumps({"runs": found}))
        return
    print("| " + " | ".join(found[0]) + " |\n" + "| --- " * len(found[0]) + "|")
    for line in found:
        print("| " + " | ".join(str(value) for value in line.values()) + " |")
