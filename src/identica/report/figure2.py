"""Figure 2 from stored records: scores and mismatch against the concentration of the marginal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from identica.experiments.figure2 import PANELS, Panel, Point
from identica.experiments.store import Record
from identica.laws import Marginal
from identica.report._canvas import canvas, save_picture
from identica.theory import mass_to_move

__all__ = ["draw_figure2", "summarise_figure2"]

_BLACK, _GREY, _BLUE = "black", "0.6", "tab:blue"


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
    for direction, key in (("forwards", "r2"), ("backwards", "r2_backwards")):
        values = [records[point.run.name]["r2"] for point in points if point.direction == direction]
        if values:
            found |= {key: round(mean(values), 4), f"{key}_per_seed": values}
    return found | {"identity_r2": round(mean(records[point.run.name]["identity_r2"] for point in points), 4)}


def draw_figure2(summary: Mapping[str, Any], path: Path) -> None:
    """Both panels as a picture at `path` (.png, .pdf or .svg)."""
    with canvas(7.0, 2.9) as figure:
        for axes, panel in zip(figure.subplots(1, 2, sharey=True), summary["panels"], strict=True):
            points = panel["points"]
            concentrations = [point["concentration"] for point in points]
            axes.axvline(panel["dashed_line"], color=_BLACK, linestyle="--", linewidth=1, label="conditional")
            axes.plot(
                concentrations, [point["mass_to_move"] for point in points], ".-", color=_BLUE, label="mass to move"
            )
            for key, label, colour in (
                ("r2_backwards", "R², asked backwards", _GREY),
                ("r2", "R²", _BLACK),
            ):
                if key in points[0]:
                    axes.plot(concentrations, [point[key] for point in points], "o-", color=colour, label=label, ms=3)
                    seeds = [point[f"{key}_per_seed"] for point in points]
                    axes.fill_between(
                        concentrations, list(map(min, seeds)), list(map(max, seeds)), color=colour, alpha=0.2
                    )
            axes.set_xscale("log", base=2)
            axes.set_ylim(0, 103)
            axes.set_xlabel(f"concentration {panel['symbol']} of the marginal")
            axes.set_title(panel["process"], fontsize=8)
        figure.axes[0].set_ylabel("percent")
        figure.axes[0].legend(frameon=False, loc="center left")
        save_picture(figure, path)
