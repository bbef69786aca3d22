"""Charts as plain data for plotly.js; colours are names of the style sheet, so that light and dark share one chart."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Figure",
    "along",
    "axis",
    "bars",
    "curves",
    "evenly",
    "factor",
    "labels",
    "layout_of",
    "matrix",
    "numbers",
    "widths",
]

Array = NDArray[np.floating[Any]]
Figure = dict[str, Any]

_CURVE_POINTS = 400
_LONGEST_LABEL = 20
_COLOURS = tuple(f"var(--series-{index})" for index in range(1, 7))
_ACCENT, _INK, _MUTED, _LINE = "var(--accent)", "var(--ink)", "var(--muted)", "var(--line)"
# plotly.js reads tags in labels, `%{…}` in hover texts, and the page's script `var(…)`: all of these are spelt out.
_SPELT_OUT = str.maketrans({"{": "&#123;", "(": "&#40;"})


def labels(names: Iterable[str]) -> list[str]:
    """Names that a chart shows as they are: short, escaped, no two alike."""
    found: list[str] = []
    for name in names:
        short = name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"
        text = html.escape(short).translate(_SPELT_OUT)
        found.append(text if text not in found else f"{text} [{len(found) + 1}]")
    return found


def numbers(values: Any, digits: int = 4) -> list[float | None]:
    """As short numbers for JSON, which has none that are not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in np.asarray(values, float)]


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """Row numbers of at most `most` of `count` rows, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def curves(curve: Sequence[Mapping[str, float]], keys: Mapping[str, str], title: str) -> Figure:
    """One line for each key over the steps of training."""
    shown = [curve[index] for index in evenly(len(curve), _CURVE_POINTS)]
    steps = [row["step"] for row in shown]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(shown) <= 40 else "lines",
            "name": name,
            "x": steps,
            "y": numbers([row.get(key, math.nan) for row in shown], 5),
            "connectgaps": True,
            "line": {"color": colour, "width": 2},
            "marker": {"color": colour, "size": 5, "symbol": symbol},
            "hovertemplate": f"step %{{x:,}}<br>{name} %{{y:.4~g}}<extra></extra>",
        }
        for (key, name), colour, symbol in zip(
            keys.items(), (_ACCENT, *_COLOURS[1:]), ("circle", "square", "diamond", "x", "cross", "star"), strict=False
        )
    ]
    layout = layout_of(axis("step", showgrid=False, tickformat="~s"), axis(title))
    return {"data": traces, "layout": layout | {"showlegend": len(traces) > 1}}


def factor(truth: Array, found: Array, names: tuple[str, str], title: str) -> Figure:
    """A true factor against what recovers it."""
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(truth),
        "y": numbers(found),
        "marker": {"color": _ACCENT, "size": 4, "opacity": 0.4},
        "hovertemplate": f"{names[0]} %{{x}}<br>{names[1]} %{{y}}<extra></extra>",
    }
    layout = layout_of(axis(names[0], nticks=4), axis(names[1], nticks=4))
    layout["title"] = {"text": title, "font": {"size": 13, "color": _INK}, "x": 0.02, "y": 0.97, "yanchor": "top"}
    layout["margin"] = {"l": 44, "r": 8, "t": 34, "b": 40}
    return {"data": [trace], "layout": layout}


def along(values: Array, codes: Array, matched: int, name: str, components: Sequence[str]) -> Figure:
    """Components along one factor, [steps, components]: the matched one, if there is one, before all others."""
    order = [one for one in range(codes.shape[1]) if one != matched] + ([matched] if matched >= 0 else [])
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers" if one == matched else "lines",
            "x": numbers(values),
            "y": numbers(codes[:, one]),
            "line": {"color": _ACCENT if one == matched else _MUTED, "width": 2 if one == matched else 1},
            "opacity": 1 if one == matched else 0.5,
            "marker": {"color": _ACCENT, "size": 5},
            "hovertemplate": f"{name} %{{x}}<br>{components[one]} %{{y:.2f}}<extra></extra>",
        }
        for one in order
    ]
    title = components[matched] if matched >= 0 else "no component left"
    layout = layout_of(axis(name, tickvals=[-1, 0, 1]), axis(title, showticklabels=False, range=[-0.1, 1.1]))
    layout["margin"] = {"l": 30, "r": 8, "t": 8, "b": 40}
    return {"data": traces, "layout": layout}


def matrix(values: Array, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Correlations of rows and columns, from -1 to 1."""
    few = max(values.shape) <= 12
    trace = {
        "type": "heatmap",
        "z": [numbers(row, 3) for row in values],
        "x": list(columns),
        "y": list(rows),
        "zmin": -1,
        "zmax": 1,
        "xgap": 2 if few else 1,
        "ygap": 2 if few else 1,
        "colorscale": [[0, "var(--negative)"], [0.5, "var(--neutral)"], [1, "var(--positive)"]],
        "colorbar": {"thickness": 8, "outlinewidth": 0, "tickvals": [-1, 0, 1], "len": 0.9, "ticklen": 0},
        "hovertemplate": "%{y}<br>%{x}<br>r = %{z:.3f}<extra></extra>",
    }
    if few:
        trace |= {"texttemplate": "%{z:.2f}", "textfont": {"size": 10}}
    plain = {"type": "category", "showgrid": False}
    layout = layout_of(axis("", **plain), axis("", **plain, autorange="reversed"))
    return {"data": [trace], "layout": layout | {"margin": {"l": 8, "r": 8, "t": 8, "b": 8}}}


def bars(values: Sequence[float], chance: float | None) -> Figure:
    """Agreement of each component in percent, against the level by chance."""
    trace = {
        "type": "bar",
        "x": list(range(1, len(values) + 1)),
        "y": numbers(values),
        "marker": {"color": _ACCENT, "cornerradius": 3},
        "hovertemplate": "component %{x}<br>%{y:.1f} %<extra></extra>",
    }
    layout = layout_of(
        axis("component of the first fit", type="category", showgrid=False), axis("agreement, %", range=[0, 103])
    )
    layout["bargap"] = 0.55
    if chance is not None:
        line = {"color": _INK, "width": 1, "dash": "dot"}
        layout["shapes"] = [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": chance, "y1": chance, "line": line}
        ]
        beside = {"xref": "paper", "x": 1, "xanchor": "left", "y": chance, "yanchor": "middle", "xshift": 6}
        layout["annotations"] = [{"text": "chance", "showarrow": False, "font": {"size": 11, "color": _MUTED}} | beside]
        layout["margin"] = layout["margin"] | {"r": 60}
    return {"data": [trace], "layout": layout}


def widths(values: Sequence[float], names: Sequence[str]) -> Figure:
    """The width of each component; on a logarithmic axis if they differ much. Infinite ones are left out."""
    finite = [one for one in values if math.isfinite(one)]
    far = bool(finite) and max(finite) > 5 * min(finite) > 0
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": list(names),
        "y": numbers(values),
        "marker": {"color": _ACCENT, "size": 11},
        "hovertemplate": "%{x}<br>width %{y:.3g}<extra></extra>",
    }
    layout = layout_of(
        axis("", type="category", showgrid=False, range=[-0.6, len(names) - 0.4]),
        axis("width", **({"type": "log", "dtick": "D2"} if far else {"rangemode": "tozero", "nticks": 5})),
    )
    return {"data": [trace], "layout": layout}


def axis(title: str, **more: Any) -> Figure:
    """An axis in the style of all others."""
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 12, "color": _MUTED}},
        "gridcolor": _LINE,
        "gridwidth": 1,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "tickfont": {"size": 11, "color": _MUTED},
        "automargin": True,
    } | more


def layout_of(x: Figure, y: Figure) -> Figure:
    """What all charts share, with these two axes."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", "size": 12, "color": _INK},
        "hoverlabel": {"bgcolor": _INK, "bordercolor": _INK, "font": {"color": "var(--panel)", "size": 12}},
        "margin": {"l": 48, "r": 12, "t": 12, "b": 44},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": _MUTED, "activecolor": _ACCENT},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "showlegend": False,
        "xaxis": x,
        "yaxis": y,
    }
