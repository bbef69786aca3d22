"""How sparse real transitions are: the steps of known factors, against the normal and the Laplace law that fit best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.report._canvas import canvas, save_picture

__all__ = ["describe_steps", "draw_steps", "fit_steps", "summarise_steps"]

Array = NDArray[np.float64]

_BINS, _SHOWN = 61, 0.995
_EXPONENTS = 0.1, 8.0
_STYLES = {"normal": ("tab:red", "--"), "laplace": ("tab:blue", "-"), "generalised normal": ("0.3", ":")}


def fit_steps(steps: Any) -> dict[str, Any]:
    """The laws of most likelihood around the median of these steps, as plain data.

    The generalised normal, with density ∝ exp(-(|x| / λ)^β), is the normal law at β = 2 and the Laplace law at β = 1;
    a β below 1 is sparser than either.

    Args:
        steps: Numbers, not all the same.
    """
    from scipy.optimize import minimize_scalar

    values = np.asarray(steps, dtype=np.float64).ravel()
    if len(values) < 2 or not np.isfinite(values).all() or np.ptp(values) == 0:
        raise InputError(f"steps must be finite and not all the same, got {len(values)} of them")
    middle = float(np.median(values))
    sizes = np.abs(values - middle)
    best = minimize_scalar(lambda beta: -_likelihood(sizes, beta), bounds=_EXPONENTS, method="bounded")
    exponents = {"normal": 2.0, "laplace": 1.0, "generalised normal": float(best.x)}
    return {
        "middle": middle,
        "laws": {
            name: {
                "beta": round(beta, 4),
                "scale": _scale(sizes, beta),
                "nats_a_step": round(_likelihood(sizes, beta), 4),
            }
            for name, beta in exponents.items()
        },
    }


def summarise_steps(steps: Mapping[str, Any], names: Sequence[str], title: str) -> dict[str, Any]:
    """The figure as plain data: a panel for each gap and factor.

    Args:
        steps: By what a gap is called, how the factors change over it, [pairs, factors].
        names: Of the factors, with their units.
        title: Where the steps are from.
    """
    panels = []
    for gap, values in steps.items():
        columns = np.asarray(values, dtype=np.float64)
        if columns.ndim != 2 or columns.shape[1] != len(names):
            raise InputError(f"steps must have shape [pairs, {len(names)}], got {list(columns.shape)}")
        for name, column in zip(names, columns.T, strict=True):
            panels.append({"gap": gap, "factor": name, "steps": len(column), **fit_steps(column), **_binned(column)})
    return {"title": title, "panels": panels}


def describe_steps(summary: Mapping[str, Any]) -> str:
    """A line for each panel."""
    lines = [summary["title"], "nats a step are mean log densities: the higher, the better the law fits"]
    for panel in summary["panels"]:
        laws = panel["laws"]
        fits = "  ".join(f"{name} {laws[name]['nats_a_step']:7.3f}" for name in ("normal", "laplace"))
        exponent = laws["generalised normal"]["beta"]
        lines.append(f"  {panel['gap']:<10} {panel['factor']:<14} nats a step: {fits}  best exponent {exponent:.2f}")
    return "\n".join(lines)


def draw_steps(summary: Mapping[str, Any], path: Path) -> None:
    """A row of panels for each gap, with densities on a logarithmic axis, as a picture (.png, .pdf or .svg)."""
    panels = summary["panels"]
    columns = len({panel["factor"] for panel in panels})
    rows = -(-len(panels) // columns)
    with canvas(2.5 * columns, 2.1 * rows + 0.5) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=True):
            _draw_panel(axes, panel)
        for axes in grid[:, 0]:
            axes.set_ylabel("density")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
        save_picture(figure, path)


def _draw_panel(axes: Any, panel: Mapping[str, Any]) -> None:
    edges, density = np.array(panel["edges"]), np.array(panel["density"])
    axes.stairs(density, edges, fill=True, color="0.85", label="real steps")
    places = np.linspace(edges[0], edges[-1], 401)
    sizes = np.abs(places - panel["middle"])
    for name, (colour, line) in _STYLES.items():
        law = panel["laws"][name]
        heights = np.exp(_log_densities(sizes, law["beta"], law["scale"]))
        axes.plot(places, heights, line, color=colour, linewidth=1, label=name)
    axes.set_yscale("log")
    axes.set_ylim(density[density > 0].min() / 2, 3 * density.max())
    axes.set_title(f"{panel['gap']}, β = {panel['laws']['generalised normal']['beta']:.2f}", fontsize=8)
    axes.set_xlabel(f"step of {panel['factor']}")


def _binned(column: Array) -> dict[str, list[float]]:
    """Densities in bins that hold almost all steps."""
    reach = float(np.quantile(np.abs(column - np.median(column)), _SHOWN)) or float(np.abs(column).max())
    edges = np.median(column) + np.linspace(-reach, reach, _BINS + 1)
    counts, _ = np.histogram(column, edges)
    density = counts / (len(column) * np.diff(edges))
    return {"edges": [round(float(one), 6) for one in edges], "density": [round(float(one), 8) for one in density]}


def _scale(sizes: Array, beta: float) -> float:
    """λ of most likelihood."""
    return float((beta * np.mean(sizes**beta)) ** (1 / beta))


def _log_densities(sizes: Array, beta: float, scale: float) -> Array:
    result: Array = math.log(beta / (2 * scale)) - math.lgamma(1 / beta) - (sizes / scale) ** beta
    return result


def _likelihood(sizes: Array, beta: float) -> float:
    """Mean log density in nats, at the best scale."""
    return float(_log_densities(sizes, beta, _scale(sizes, beta)).mean())
