"""What `identica score` computes and prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from identica import _checks
from identica._checks import InputError

__all__ = ["Scored", "compute", "show"]


class Scored(NamedTuple):
    """Summaries of the scores that apply, and why the others do not."""

    summaries: dict[str, dict[str, Any]]
    left_out: dict[str, str]


def compute(
    latents: Any, codes: Any, names: Sequence[str] | None, kinds: Sequence[str] | None, *, visible: bool
) -> Scored:
    """Scores of these names; without names, of all that apply."""
    from identica._progress import scoring_bar
    from identica.metrics import SCORES, Scorer, symbol

    chosen = list(dict.fromkeys(_checks.choice("score", name, SCORES) for name in names or SCORES))
    scorer = Scorer(latents, codes, kinds)
    scored = Scored({}, {})
    with scoring_bar(len(chosen), visible) as tell:
        for done, name in enumerate(chosen):
            tell(done, symbol(name))
            try:
                scored.summaries[name] = scorer.score(name).summary()
            except InputError as reason:
                if names or len(scored.left_out) == len(chosen) - 1:
                    raise
                scored.left_out[name] = str(reason)
    return scored


def show(scored: Scored, as_json: bool) -> None:
    """A line for each score, or one JSON object."""
    if as_json:
        flat: dict[str, Any] = {name: found["value"] for name, found in scored.summaries.items()}
        flat |= {f"{name}_chance": found["chance"] for name, found in scored.summaries.items()}
        print(json.dumps(flat | ({"left_out": scored.left_out} if scored.left_out else {})))
        return
    for name, found in scored.summaries.items():
        print(f"{name:<14} {found['value']:6.2f}   (chance {found['chance']:.2f})")
    for name, reason in scored.left_out.items():
        print(f"{name:<14} does not apply: {reason}")
