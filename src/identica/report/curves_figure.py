"""Scores while runs trained, from stored records: a panel for each source, a line for each learner."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from identica._checks import InputError
from identica.experiments.paper import rows_of_record
from identica.experiments.store import Record
from identica.metrics import SCORES, symbol
from identica.report._canvas import canvas, save_picture
from identica.report._seeds import grouped_over_seeds

__all__ = ["describe_curves", "draw_curves", "summarise_curves"]

_COLUMNS = 3
_TITLE_CHARACTERS = 52
_COLOURS = ("tab:blue", "tab:red", "tab:green", "tab:orange", "tab:purple", "tab:brown", "tab:pink", "tab:olive")


def summarise_curves(records: Iterable[Record], rows: Sequence[str] = (), score: str | None = None) -> dict[str, Any]:
    """The figure as plain data: for each source its learners, with a score at each step.

    Runs that differ in their seed alone make one line: their mean, and the lowest and the highest of them.

    Args:
        records: Of runs that were scored while they trained; others are left out.
        rows: Only runs of these rows; all if none are given.
        score: What is drawn, any number that a curve has, such as `held_out_bits`; the first score of a row, of those
            that were followed, if none is given.
    """
    panels: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for group in grouped_over_seeds(records).values():
        line = _line(group, rows, score)
        if line is not None:
            panels.setdefault((group[0]["source"], line.pop("score")), []).append(line)
    if not panels:
        wanted = (f" of {', '.join(rows)}" if rows else "") + (f" with {score!r}" if score is not None else "")
        raise InputError(f"records must be of runs{wanted} that were scored while they trained, got none")
    return {
        "panels": [
            {"process": process, "score": score, "lines": sorted(lines, key=lambda line: str(line["row"]))}
            for (process, score), lines in sorted(panels.items())
        ]
    }


def _line(group: Sequence[Record], rows: Sequence[str], asked: str | None) -> dict[str, Any] | None:
    """The curve of one learner over its seeds, if its row is wanted and it was scored."""
    first = group[0]
    known = rows_of_record(first)
    named = [row for row in known if not rows or row.id in rows]
    if rows and not named:
        return None
    measured = {name for record in group for point in record["curve"] for name in point}
    choice = (known[0].scores if known else first["scores"]) if asked is None else (asked,)
    score = next((name for name in choice if name in measured), None)
    curves = [{point["step"]: point[score] for point in record["curve"] if score in point} for record in group]
    steps = sorted(set.intersection(*map(set, curves)))
    if score is None or not steps:
        return None
    at = [[curve[step] for curve in curves] for step in steps]
    return {
        "row": named[0].id if named else "own",
        "model": first["learner"],
        "score": score,
        "seeds": sorted(record["seed"] for record in group),
        "steps": steps,
        "mean": [round(mean(values), 4) for values in at],
        "low": [min(values) for values in at],
        "high": [max(values) for values in at],
    }


def describe_curves(summary: Mapping[str, Any]) -> str:
    """A line of text for each curve: what it was at four moments."""
    lines = []
    for panel in summary["panels"]:
        lines.append(f"{panel['process']}: {_label(panel['score'])}, by steps")
        for line in panel["lines"]:
            count = len(line["steps"])
            places = sorted({max(0, round(count * part) - 1) for part in (0.1, 0.25, 0.5, 1.0)})
            moments = "  ".join(f"{line['mean'][at]:5.1f} ({line['steps'][at]})" for at in places)
            lines.append(f"  {line['row']:<6} {line['model']:<22} {moments}   seeds: {len(line['seeds'])}")
    return "\n".join(lines)


def draw_curves(summary: Mapping[str, Any], path: Path) -> None:
    """Up to three panels side by side, with a band from the lowest to the highest seed (.png, .pdf or .svg)."""
    panels = summary["panels"]
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with canvas(3.6 * columns, 2.8 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).flat
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(grid, panels, strict=False):
            for line, colour in zip(panel["lines"], _repeated(len(panel["lines"])), strict=True):
                axes.plot(line["steps"], line["mean"], color=colour, linewidth=1.2, label=line["model"])
                axes.fill_between(line["steps"], line["low"], line["high"], color=colour, alpha=0.15, linewidth=0)
            axes.set_title(textwrap.fill(panel["process"], _TITLE_CHARACTERS), fontsize=7)
            axes.set_xlabel("step")
            axes.set_ylabel(_label(panel["score"]))
            axes.legend(frameon=False, fontsize=7)
        save_picture(figure, path)


def _label(score: str) -> str:
    """What a score is called, with its unit."""
    return f"{symbol(score)}, %" if score in SCORES else score.replace("_", " ")


def _repeated(count: int) -> list[str]:
    """So many colours."""
    return [_COLOURS[place % len(_COLOURS)] for place in range(count)]
