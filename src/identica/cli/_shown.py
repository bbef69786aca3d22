"""What a command says of a fit."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from identica.cli._given import Given
from identica.cli._said import say

__all__ = ["show_fit", "write_report"]

_MOST_NAMES = 40


def show_fit(
    estimator: Any, out: Path, report: Path | None, seconds: float, as_json: bool, columns: Sequence[str] = ()
) -> None:
    """Print what was found, in words or as one line of JSON."""
    if as_json:
        print(json.dumps(_summary(estimator, out, seconds) | {"columns": list(columns)}))
        return
    from identica._words import with_article

    nothing = estimator.verdict_.finding == "these pairs tell nothing"
    say(f"verdict: {estimator.verdict_}")
    if columns:
        say(f"columns: {', '.join(columns[:_MOST_NAMES])}" + _more(len(columns) - _MOST_NAMES))
    say(
        f"{estimator.n_components_} components from {estimator.n_pairs_} pairs in {seconds:.0f} s"
        + ("" if nothing else f", identified up to {with_article(estimator.ambiguity_)} if the assumption holds")
    )
    say(f"partners differ by {estimator.conditional_}, in units of the codes")
    used = estimator.components_used_.tolist()
    if len(used) < estimator.n_components_:
        say(f"components that tell something of partners: {', '.join(str(index + 1) for index in used)}")
    _print_choice(estimator)
    _print_bits(estimator)
    if report is not None:
        say(f"report, to open in a browser: {report}")
    say(f"model in {out}; `identica transform {out} DATA --out codes.npz` applies it")


def write_report(path: Path, estimator: Any, data: Path, given: Given, seconds: float) -> None:
    """Write the page of a fit."""
    from identica.report import report_of_fit, write_page

    dataset = given.dataset
    report = report_of_fit(
        estimator,
        given.observations,
        seconds=seconds,
        **given.pairs_of_fit(),
        time=dataset.time,
        colours=dataset.beside,
        facts={"file": data.name, "date": f"{datetime.now():%Y-%m-%d}"},
        title=f"Components of {data.name}",
    )
    write_page(report, path)


def _summary(estimator: Any, out: Path, seconds: float) -> dict[str, Any]:
    return {
        "model": str(out),
        "space": estimator.space,
        "conditional": estimator.model_.conditional,
        "fitted": estimator.conditional_,
        "identified_up_to": estimator.ambiguity_,
        "n_components": estimator.n_components_,
        "widths": [float(f"{one:.4g}") if one < math.inf else None for one in estimator.widths_],
        "components_used": estimator.components_used_.tolist(),
        "pairs": estimator.n_pairs_,
        "held_out_pairs": estimator.n_held_out_pairs_,
        "verdict": estimator.verdict_.finding,
        "reason": estimator.verdict_.reason,
        "agreement": _rounded(estimator.agreement_),
        "bits": _rounded(estimator.validation_score_),
        "fitted_bits": _rounded(estimator.fitted_bits_),
        "chosen": estimator.chosen_,
        "tried": estimator.search_,
        "steps": estimator.n_steps_,
        "seconds": round(seconds, 2),
    }


def _print_choice(estimator: Any) -> None:
    from identica._words import in_words

    chosen = ", ".join(f"{name} {in_words(value)}" for name, value in estimator.chosen_.items())
    tried = len(estimator.search_)
    say(f"settings: {chosen}" + (f"; the best of {tried} by held-out bits" if tried > 1 else ""))


def _print_bits(estimator: Any) -> None:
    bits, fitted = estimator.validation_score_, estimator.fitted_bits_
    if bits is not None:
        count = estimator.n_held_out_pairs_
        say(f"{bits:z.2f} bits a pair on {count} pairs that were held out, {fitted:z.2f} on fitted ones; 0 is chance")


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _rounded(bits: float | None) -> float | None:
    return None if bits is None else round(bits, 4)
