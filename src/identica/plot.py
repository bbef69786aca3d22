"""Pictures of a fit, one line each: axes of matplotlib in, axes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.attribution import Attribution
from identica.metrics import mcc
from identica.sources import runs_of
from identica.validation import Consistency, Differences

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["agreement", "assumption", "channels", "embedding", "over_time", "recovered"]

Panels = NDArray[np.object_]

_POINTS = 1500
_PER_ROW = 5
_COLOUR, _SECOND = "#0067a5", "#d55e00"


def recovered(factors: Any, codes: Any, axes: Any = None) -> Panels:
    """Each true factor against the component that recovers it; points on a line mean that it was found.

    Args:
        factors: [samples, factors].
        codes: [samples, components].
        axes: A panel for each factor; new ones if not given.
    """
    truth, found = _table("factors", factors), _table("codes", codes)
    score = mcc(truth, found)
    assert score.assignment is not None
    panels = _panels(axes, truth.shape[1])
    shown = _evenly(len(truth))
    for index, (panel, component) in enumerate(zip(panels, score.assignment, strict=True)):
        panel.set_xlabel(f"true factor {index + 1}")
        if component < 0:
            panel.set_title("no component left", fontsize="medium")
            panel.plot(truth[shown, index], np.zeros(len(shown)), ".", color="0.8", markersize=2)
            continue
        panel.plot(truth[shown, index], found[shown, component], ".", color=_COLOUR, markersize=2, alpha=0.5)
        panel.set_ylabel(f"component {component + 1}")
        panel.set_title(f"|r| = {score.per_factor[index]:.3f}", fontsize="medium")
    return panels


def over_time(codes: Any, time: Any = None, trials: Any = None, axes: Any = None) -> Panels:
    """Components over time, one below the other; trials one after the other, with a gap between them.

    Args:
        codes: [samples, components].
        time: Of each sample; counted in samples if not given. With trials, it may start anew in each.
        trials: A label for each sample.
        axes: A panel for each component; new ones if not given.
    """
    values = _table("codes", codes)
    clock = np.arange(len(values)) if time is None else np.asarray(time, dtype=np.float64)
    if clock.shape != (len(values),):
        raise InputError(f"time must be one number for each of the {len(values)} samples, got shape {clock.shape}")
    runs = runs_of(len(values), None if trials is None else np.asarray(trials))
    pieces = np.split(np.arange(len(values)), np.flatnonzero(np.diff(runs)) + 1)
    panels = _panels(axes, values.shape[1], stacked=True)
    for index, panel in enumerate(panels):
        start = 0.0
        for rows in pieces:
            begins = clock[rows[0]] if time is not None and len(pieces) == 1 else start
            panel.plot(begins + clock[rows] - clock[rows[0]], values[rows, index], color=_COLOUR, linewidth=0.9)
            start = begins + float(clock[rows[-1]] - clock[rows[0]]) * 1.02 + _step(clock)
        panel.set_ylabel(f"component {index + 1}")
        panel.label_outer()
    several = f", {len(pieces)} trials one after the other" if len(pieces) > 1 else ""
    panels[-1].set_xlabel(("time, in samples" if time is None else "time") + several)
    return panels


def agreement(consistency: Consistency, axes: Axes | None = None) -> Axes:
    """How well each two runs agree, as a matrix; 1 is the best.

    Args:
        consistency: What `identica.consistency` found.
        axes: A panel; a new one if not given.
    """
    (panel,) = _panels(axes, 1)
    table = consistency.agreement
    image = panel.imshow(table, vmin=0, vmax=1, cmap="Blues")
    for (row, column), value in np.ndenumerate(table):
        dark = value > 0.6
        panel.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black")
    names = [str(run + 1) for run in range(len(table))]
    panel.set_xticks(range(len(table)), names)
    panel.set_yticks(range(len(table)), names)
    panel.set_xlabel("run")
    panel.set_ylabel("run")
    panel.set_title(f"agreement up to a {consistency.ambiguity}".replace("a affine", "an affine"), fontsize="medium")
    panel.figure.colorbar(image, ax=panel, label="correlation after the best such map")
    result: Axes = panel
    return result


def embedding(codes: Any, color: Any = None, components: Sequence[int] = (0, 1, 2), axes: Axes | None = None) -> Axes:
    """Components against each other, in three dimensions, or two if there are no more.

    Args:
        codes: [samples, components].
        color: A number or a name for each sample, such as its time, its trial or where an animal was.
        components: Which components, counted from 0.
        axes: A panel, for three components with `projection="3d"`; a new one if not given.
    """
    values = _table("codes", codes)
    chosen = [index for index in components if index < values.shape[1]]
    if len(chosen) < 2:
        raise InputError(f"components must name two or three of the {values.shape[1]} components, got {components!r}")
    (panel,) = _panels(axes, 1, projection="3d" if len(chosen) > 2 else None)
    shown = _evenly(len(values))
    points = [values[shown, index] for index in chosen]
    if color is None:
        panel.scatter(*points, s=4, color=_COLOUR)
    else:
        _coloured(panel, points, np.asarray(color)[shown])
    for axis, index in zip("xyz", chosen, strict=False):
        getattr(panel, f"set_{axis}label")(f"component {index + 1}")
    result: Axes = panel
    return result


def assumption(differences: Differences, axes: Any = None) -> Panels:
    """Quantiles of partner differences against those of the fitted law; points on the line mean that it holds.

    Args:
        differences: What `identica.validation.partner_differences` found.
        axes: A panel for each component that is used; new ones if not given.
    """
    panels = _panels(axes, len(differences.components))
    for index, (panel, component) in enumerate(zip(panels, differences.components, strict=True)):
        expected, measured = differences.expected[:, index], differences.measured[:, index]
        ends = [min(expected[0], measured[0]), max(expected[-1], measured[-1])]
        panel.plot(ends, ends, color="0.6", linewidth=1, label="law")
        panel.plot(expected, measured, "o", color=_COLOUR, markersize=3, label="partners")
        panel.set_xlabel("fitted law")
        panel.set_ylabel(f"component {component + 1}")
        panel.set_title(f"largest gap {100 * differences.gaps[index]:.0f} %", fontsize="medium")
    panels[0].legend(frameon=False, fontsize="small", handlelength=1)
    return panels


def channels(attribution: Attribution, most: int = 20, axes: Axes | None = None) -> Axes:
    """Which channels each component listens to, as a matrix; the strongest channels first.

    Args:
        attribution: What `identica.attribution.attribute` found.
        most: How many channels at most.
        axes: A panel; a new one if not given.
    """
    if not attribution.channels:
        raise InputError("attribution must be of channels, got maps of images: show `values[component, 0]` by imshow")
    order = np.argsort(-attribution.of_channels, kind="stable")[:most]
    (panel,) = _panels(axes, 1)
    image = panel.imshow(attribution.values[:, order], cmap="Blues", vmin=0, aspect="auto")
    panel.set_xticks(range(len(order)), [attribution.channels[index] for index in order], rotation=90)
    panel.set_yticks(range(len(attribution.values)), [str(index + 1) for index in range(len(attribution.values))])
    panel.set_ylabel("component")
    panel.figure.colorbar(image, ax=panel, label="spreads of a component\nper spread of a channel")
    result: Axes = panel
    return result


def _coloured(panel: Any, points: Sequence[Any], color: NDArray[Any]) -> None:
    """Points by numbers, with a bar, or by names, with a legend."""
    names = np.unique(color)
    if color.dtype.kind in "fiu" and len(names) > 8:
        drawn = panel.scatter(*points, s=4, c=color, cmap="viridis")
        panel.figure.colorbar(drawn, ax=panel, shrink=0.7, pad=0.18 if panel.name == "3d" else 0.03)
        return
    for name in names:
        panel.scatter(*(one[color == name] for one in points), s=4, label=str(name))
    if len(names) <= 12:
        panel.legend(frameon=False, fontsize="small", markerscale=3)


def _panels(axes: Any, count: int, *, stacked: bool = False, projection: str | None = None) -> Panels:
    """The panels that were given, or new ones in rows without an empty place."""
    if axes is not None:
        given = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(given) != count:
            raise InputError(f"axes must be {count}, one for each panel, got {len(given)}")
        return given
    import matplotlib.pyplot as plt

    if stacked:
        figure = plt.figure(figsize=(7, 1.1 * count + 0.6), layout="constrained")
        return np.atleast_1d(figure.subplots(count, 1, sharex=True))
    rows = -(-count // _PER_ROW)
    columns = -(-count // rows)
    size = (2.2 * columns, 2.2 * rows + 0.2) if count > 1 else (5.4, 4.0) if projection else (4.8, 3.6)
    figure = plt.figure(figsize=size, layout=None if projection else "constrained")  # which cuts bars beside a cube
    grid = figure.add_gridspec(rows, columns)
    return np.array([figure.add_subplot(grid[divmod(place, columns)], projection=projection) for place in range(count)])


def _table(name: str, values: Any) -> NDArray[np.float64]:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(f"{name} must have shape [samples, columns], got {list(table.shape)}")
    return table


def _evenly(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, min(count, _POINTS)).round().astype(np.int64))


def _step(clock: NDArray[Any]) -> float:
    return float(np.median(np.abs(np.diff(clock)))) if len(clock) > 1 else 1.0
