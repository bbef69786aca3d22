"""Charts of a fit: quantiles, marginals, channels, components over time, and the embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.report._charts import Array, Figure, axis, labels, layout_of, numbers

__all__ = ["channels", "embedding", "marginal", "quantiles", "trajectories"]

_ACCENT, _INK, _MUTED, _LINE = "var(--accent)", "var(--ink)", "var(--muted)", "var(--line)"
_SERIES = (_ACCENT, *(f"var(--series-{index})" for index in range(2, 7)))
_FEW = len(_SERIES)
_BINS = 30


def quantiles(expected: Array, measured: Array, name: str, gap: float) -> Figure:
    """Differences of partners against the fitted law; points on the line if it holds."""
    low, high = float(min(expected[0], measured[0])), float(max(expected[-1], measured[-1]))
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "as the law says",
        "x": numbers([low, high]),
        "y": numbers([low, high]),
        "line": {"color": _MUTED, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "partners",
        "x": numbers(expected),
        "y": numbers(measured),
        "marker": {"color": _ACCENT, "size": 4},
        "hovertemplate": "law %{x}<br>partners %{y}<extra></extra>",
    }
    layout = layout_of(axis("fitted law", nticks=4), axis(name, nticks=4))
    return {"data": [line, points], "layout": layout | _titled(f"gap {100 * gap:.0f} %")}


def marginal(values: Array, name: str, uniform: bool) -> Figure:
    """How often each value of a component occurs, as a density."""
    heights, edges = np.histogram(values, _BINS, density=True)
    middles = (edges[1:] + edges[:-1]) / 2
    bars = {
        "type": "bar",
        "name": "component",
        "x": numbers(middles),
        "y": numbers(heights),
        "marker": {"color": _ACCENT},
        "hovertemplate": "%{x}<br>density %{y}<extra></extra>",
    }
    layout = layout_of(axis(name, nticks=4), axis("density", nticks=3, rangemode="tozero"))
    layout["bargap"] = 0.05
    if uniform:
        line = {"color": _INK, "width": 1, "dash": "dot"}
        layout["shapes"] = [{"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line}]
    return {"data": [bars], "layout": layout | {"margin": {"l": 44, "r": 8, "t": 12, "b": 40}}}


def channels(names: Sequence[str], values: Array) -> Figure:
    """The channels that a component moves with, the strongest at the top."""
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(values),
        "y": labels(names),
        "marker": {"color": _ACCENT, "cornerradius": 3},
        "hovertemplate": "%{y}<br>%{x:.3g}<extra></extra>",
    }
    layout = layout_of(
        axis("strength", rangemode="tozero", nticks=5),
        axis("", type="category", autorange="reversed", showgrid=False, dtick=1),
    )
    return {"data": [bars], "layout": layout | {"bargap": 0.35}}


def trajectories(clock: Array, codes: Array, names: Sequence[str], title: str) -> Figure:
    """Components over time, one below the other."""
    count = len(names)
    bottom = f"y{count}" if count > 1 else "y"
    layout = layout_of(axis(title, showgrid=False, anchor=bottom), {})
    gap = 0.25 / count
    traces = []
    for row, name in enumerate(names):
        number = "" if row == 0 else str(row + 1)
        low = 1 - (row + 1) / count
        layout[f"yaxis{number}"] = axis(name, nticks=3, domain=[low + gap * (row < count - 1), low + 1 / count])
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if len(clock) > 1 else "markers",
                "x": numbers(clock, 6),
                "y": numbers(codes[:, row], 3),
                "yaxis": f"y{number}",
                "line": {"color": _SERIES[row % _FEW], "width": 1.4},
                "hovertemplate": f"time %{{x}}<br>{name} %{{y}}<extra></extra>",
            }
        )
    return {"data": traces, "layout": layout}


def embedding(points: Array, names: Sequence[str], values: NDArray[Any]) -> Figure:
    """Two or three components against each other, coloured by numbers, with a bar, or by a few names, with a legend."""
    places: dict[str, Any] = dict(zip("xyz", (numbers(column, 3) for column in points.T), strict=False))
    kind = "scatter3d" if len(places) == 3 else "scatter"
    size = 2.5 if kind == "scatter3d" else 4
    found = np.unique(values)
    if len(found) <= _FEW:
        traces = [
            {
                "type": kind,
                "mode": "markers",
                "name": name,
                **{
                    side: [one for one, own in zip(column, values == value, strict=True) if own]
                    for side, column in places.items()
                },
                "marker": {"size": size, "color": colour},
                "hoverinfo": "name",
            }
            for value, name, colour in zip(found, labels(map(str, found)), _SERIES, strict=False)
        ]
    else:
        order = values if values.dtype.kind in "fiub" else np.unique(values, return_inverse=True)[1].ravel()
        bar = {"thickness": 8, "outlinewidth": 0, "len": 0.7, "tickfont": {"color": _MUTED, "size": 11}, "nticks": 5}
        marker = {"size": size, "color": numbers(order, 4), "colorscale": "Viridis", "showscale": True, "colorbar": bar}
        traces = [{"type": kind, "mode": "markers", **places, "marker": marker, "hoverinfo": "x+y+z"}]
    return {"data": traces, "layout": _scene(names, kind) | {"showlegend": len(found) <= _FEW}}


def _scene(names: Sequence[str], kind: str) -> Figure:
    if kind == "scatter":
        return layout_of(axis(names[0]), axis(names[1]))
    sides = {
        f"{side}axis": {
            "title": {"text": name, "font": {"size": 11, "color": _MUTED}},
            "gridcolor": _LINE,
            "zeroline": False,
            "showbackground": False,
            "tickfont": {"size": 9, "color": _MUTED},
            "nticks": 4,
            "showspikes": False,
        }
        for side, name in zip("xyz", names, strict=True)
    }
    layout = layout_of({}, {})
    camera = {"eye": {"x": 1.45, "y": 1.45, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.15}}
    layout |= {"scene": sides | {"aspectmode": "cube", "camera": camera}}
    return layout | {"margin": {"l": 0, "r": 0, "t": 32, "b": 0}, "uirevision": "kept"}


def _titled(title: str) -> Figure:
    title_of = {"text": title, "font": {"size": 13, "color": _INK}, "x": 0.02, "y": 0.97, "yanchor": "top"}
    return {"title": title_of, "margin": {"l": 44, "r": 8, "t": 34, "b": 40}}
