"""Figure 2 from stored records: scores and mismatch against the concentration of the marginal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from identica.experiments.figure2 import PANELS, Panel, Point
from identica.experiments.store import Record
from identica.laws import Marginal
from identica.recipes import Direction
from identica.report._canvas import canvas, save_picture
from identica.theory import mass_to_move

__all__ = ["describe_figure2", "draw_figure2", "summarise_figure2"]

# Where the score of each direction stands in a point, and what it is called.
_KEYS: dict[Direction, str] = {"forwards": "r2", "backwards": "r2_backwards"}
_LABELS = {"r2": "R²", "r2_backwards": "R² backwards"}
_COLOURS = {"r2": "black", "r2_backwards": "0.6"}


def summarise_figure2(points: Sequence[Point], records: Mapping[str, Record]) -> dict[str, Any]:
    """The figure as plain data, in percent: for each panel its dashed line and its points.

    Args:
        points: What was planned.
        records: Of all their runs, by the runs' names.
    """
    chosen = [records[point.run.name] for point in points]
    return {
        "figure": "2",
        "protocols": sorted({record["protocol"] for record in chosen}),
        "seeds": sorted({record["seed"] for record in chosen}),
        "seconds": round(sum(record["seconds"] for record in chosen), 1),
        "machine": chosen[0]["machine"],
        "versions": chosen[0]["versions"],
        "panels": [_panel(panel, points, records) for panel in PANELS],
    }


def _panel(panel: Panel, points: Sequence[Point], records: Mapping[str, Record]) -> dict[str, Any]:
    ours = [point for point in points if point.panel == panel]
    return {
        "panel": panel.name,
        "process": f"{panel.space}, {panel.conditional}",
        "model": str(panel.model),
        "symbol": panel.symbol,
        "dashed_line": panel.concentration,
        "points": [
            {
                "concentration": concentration,
                "marginal": str(panel.marginal(concentration)),
                "mass_to_move": round(100 * mass_to_move(Marginal(panel.space, panel.marginal(concentration))), 4),
                **_scores([point for point in ours if point.concentration == concentration], records),
            }
            for concentration in dict.fromkeys(point.concentration for point in ours)
        ],
    }


def _scores(points: Sequence[Point], records: Mapping[str, Record]) -> dict[str, Any]:
    """R² forwards under `r2`, backwards under `r2_backwards`: means, and all seeds in their order."""
    found: dict[str, Any] = {}
    for direction, key in _KEYS.items():
        values = [records[point.run.name]["scores"]["r2"]["value"] for point in points if point.direction == direction]
        if values:
            found |= {key: round(mean(values), 4), f"{key}_per_seed": values}
    return found | {"identity_r2": round(mean(records[point.run.name]["identity"]["r2"] for point in points), 4)}


def describe_figure2(summary: Mapping[str, Any]) -> str:
    """Both panels as lines of text, one for each concentration."""
    lines = []
    for panel in summary["panels"]:
        lines.append(
            f"{panel['panel']}: {panel['process']}, dashed line at {panel['symbol']} = {panel['dashed_line']:g}"
        )
        for point in panel["points"]:
            scores = "  ".join(f"{label} {point[key]:6.2f}" for key, label in _LABELS.items() if key in point)
            lines.append(f"  {point['concentration']:10.4g}  mass to move {point['mass_to_move']:6.2f}  {scores}")
    return "\n".join(lines)


def draw_figure2(summary: Mapping[str, Any], path: Path) -> None:
    """Both panels as a picture at `path` (.png, .pdf or .svg)."""
    with canvas(7.0, 2.9) as figure:
        for axes, panel in zip(figure.subplots(1, 2, sharey=True), summary["panels"], strict=True):
            points = panel["points"]
            concentrations = [point["concentration"] for point in points]
            axes.axvline(panel["dashed_line"], color="black", linestyle="--", linewidth=1, label="conditional")
            axes.plot(
                concentrations,
                [point["mass_to_move"] for point in points],
                ".-",
                color="tab:blue",
                label="mass to move",
            )
            for key in filter(points[0].__contains__, reversed(_LABELS)):  # the paper's question last, on top
                style = {"color": _COLOURS[key], "label": _LABELS[key]}
                axes.plot(concentrations, [point[key] for point in points], "o-", ms=3, **style)
                seeds = [point[f"{key}_per_seed"] for point in points]
                lowest, highest = list(map(min, seeds)), list(map(max, seeds))
                axes.fill_between(concentrations, lowest, highest, color=_COLOURS[key], alpha=0.2)
            axes.set_xscale("log", base=2)
            axes.set_ylim(0, 103)
            axes.set_xlabel(f"concentration {panel['symbol']} of the marginal")
            axes.set_title(panel["process"], fontsize=8)
        figure.axes[0].set_ylabel("percent")
        figure.axes[0].legend(frameon=False, loc="center left")
        save_picture(figure, path)
