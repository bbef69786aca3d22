"""What a command says of a fit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["show_fit", "write_report"]


def show_fit(estimator: Any, out: Path, report: Path | None, seconds: float, as_json: bool) -> None:
    """Print what was found, in words or as one line of JSON."""
    if as_json:
        print(json.dumps(_summary(estimator, out, seconds)))
        return
    from identica._words import with_article

    print(
        f"{estimator.n_components_} components from {estimator.n_pairs_} pairs in {seconds:.0f} s, identified up to "
        f"{with_article(estimator.ambiguity_)} if the assumption holds"
    )
    print(f"partners differ by {estimator.conditional_}, in units of the codes")
    used = estimator.components_used_.tolist()
    if len(used) < estimator.n_components_:
        print(f"components that tell something of partners: {', '.join(str(index + 1) for index in used)}")
    _print_choice(estimator)
    _print_bits(estimator)
    if report is not None:
        print(f"report, to open in a browser: {report}")
    print(f"model in {out}; `identica transform {out} DATA --out codes.npz` applies it")


def write_report(path: Path, estimator: Any, observations: Any, trials: Any, seconds: float) -> None:
    """Write the page of a fit."""
    from identica.report import report_of_fit, write_page

    write_page(report_of_fit(estimator, observations, trials=trials, seconds=seconds), path)


def _summary(estimator: Any, out: Path, seconds: float) -> dict[str, Any]:
    return {
        "model": str(out),
        "space": estimator.space,
        "conditional": estimator.conditional,
        "fitted": estimator.conditional_,
        "identified_up_to": estimator.ambiguity_,
        "n_components": estimator.n_components_,
        "widths": [float(f"{one:.4g}") if one < math.inf else None for one in estimator.widths_],
        "components_used": estimator.components_used_.tolist(),
        "pairs": estimator.n_pairs_,
        "held_out_pairs": estimator.n_held_out_pairs_,
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
    print(f"settings: {chosen}" + (f"; the best of {tried} by held-out bits" if tried > 1 else ""))


def _print_bits(estimator: Any) -> None:
    from identica.fitting import learnt_by_heart

    bits, fitted = estimator.validation_score_, estimator.fitted_bits_
    if bits is None:
        return
    count = estimator.n_held_out_pairs_
    print(f"{bits:z.2f} bits a pair on {count} pairs that were held out, {fitted:z.2f} on fitted ones; 0 is chance")
    if bits > 0 and learnt_by_heart(fitted, bits):
        print("much of that was learnt by heart and does not hold for other pairs: give more pairs, or use with care")


def _rounded(bits: float | None) -> float | None:
    return None if bits is None else round(bits, 4)
