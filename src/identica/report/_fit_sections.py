"""The parts of a page about a fit of one's own data: what went in, the assumption, channels, time, the embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from identica.report import _charts, _fit_charts, _html
from identica.report._charts import Figure, evenly
from identica.report._groups import group_names, groups
from identica.report._section import Section

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["channels", "data", "embedding", "law", "marginals", "over_time"]

_PANELS, _ROWS = 5, 4
_CHANNELS, _COMPONENTS = 15, 20
_TRIALS, _NUMBERS = 12, 24_000
_POINTS, _COLOURS = 800, 9


def data(report: Report) -> Section | None:
    """What was fitted."""
    if not report.facts:
        return None
    return Section("data", "The data", _html.panel(_html.table(report.facts)))


def law(report: Report) -> Section | None:
    """Quantiles of partner differences against the fitted law."""
    found = report.differences
    if found is None:
        return None
    names = report.names_of_components
    shown = groups(len(found.components), _PANELS)  # places among the components that are used
    titles = _charts.labels(names[component] for component in found.components)
    figures: dict[str, list[Figure]] = {
        f"law-{place}": [
            _fit_charts.quantiles(
                found.expected[:, group[place]],
                found.measured[:, group[place]],
                titles[group[place]],
                found.gaps[group[place]],
            )
            for group in shown
        ]
        for place in range(len(shown[0]))
    }
    note = _html.note(
        f"Differences of {found.pairs} pairs{' that were held out' if found.held_out else ''}, by quantile, against"
        " those of the law that was fitted. Points on the dotted line mean that partners scatter as assumed; ends that"
        " bend away are more, or fewer, far partners than the law has.",
        "The gap is the largest distance of the two distributions, 0 % if the law holds; if it is large, compare other"
        " conditionals by identica select.",
    )
    spare = len(names) - len(found.components)
    note += _html.note(f"Left out: {spare} spare components.") if spare else ""
    return _grid("law", "Do partners differ as assumed?", note, figures, shown)


def marginals(report: Report) -> Section | None:
    """How often each value of a component occurs."""
    if report.space is None:
        return None
    names = _charts.labels(report.names_of_components)
    shown = groups(len(names), _PANELS)
    uniform = report.space == "box"
    figures: dict[str, list[Figure]] = {
        f"marginal-{place}": [
            _fit_charts.marginal(report.codes[:, group[place]], names[group[place]], uniform) for group in shown
        ]
        for place in range(len(shown[0]))
    }
    note = _html.note(
        "How often each value of a component occurs.",
        "A box assumes that all values are equally frequent, as the dotted line says." if uniform else "",
    )
    return _grid("marginals", "Values of each component", note, figures, shown)


def _grid(name: str, title: str, note: str, figures: dict[str, list[Figure]], shown: list[list[int]]) -> Section:
    """A panel for each chart, and a menu of groups of components."""
    panels = "".join(
        _html.panel(_html.plot(one, f"{title} Panel {place + 1}", 220)) for place, one in enumerate(figures)
    )
    control = _html.menu(figures, "Show", group_names(shown)) if len(shown) > 1 else ""
    return Section(name, title, f"{note}{_html.many(panels, len(figures))}", figures, control)


def channels(report: Report) -> Section | None:
    """Which channels each component moves with."""
    found = report.attribution
    if found is None or not found.channels:
        return None
    count = min(_COMPONENTS, len(found.values))
    states = []
    for component in range(count):
        ranked = found.ranked(component)[:_CHANNELS]
        states.append(_fit_charts.channels([name for name, _ in ranked], np.array([value for _, value in ranked])))
    bars = min(_CHANNELS, len(found.channels))
    note = _html.note(
        "Strength: how far a component moves, in its own spreads, if a channel moves by one of its spreads; the mean"
        " over the data.",
        f"The {bars} strongest of {len(found.channels)} channels." if bars < len(found.channels) else "",
        "Channels at the bottom hardly matter.",
    )
    figures: dict[str, list[Figure]] = {"channels": states}
    names = report.names_of_components[:count]
    control = _html.menu(figures, "Show", names) if count > 1 else ""
    plot = _html.plot("channels", "Channels that a component moves with", 90 + 24 * bars)
    return Section("channels", "Which channels a component listens to", note + _html.panel(plot), figures, control)


def over_time(report: Report) -> Section | None:
    """Components over time, a trial at a time."""
    if not report.series:
        return None
    pieces, trials = _pieces(report)
    shown = groups(report.codes.shape[1], _ROWS)
    names = _charts.labels(report.names_of_components)
    title = "time, in samples" if report.time is None else report.time_name
    length = max(2, _NUMBERS // (len(pieces) * len(shown) * len(shown[0])))
    states = []
    for group in shown:
        for rows in pieces.values():
            kept = rows[:length]
            clock = kept - rows[0] if report.time is None else report.time[kept]
            own = [names[index] for index in group]
            states.append(_fit_charts.trajectories(np.asarray(clock, float), report.codes[kept][:, group], own, title))
    figures: dict[str, list[Figure]] = {"trajectories": states}
    note = _html.note(
        "Components over time, one below the other.",
        f"The first {len(pieces)} of {trials} trials can be chosen." if trials > len(pieces) else "",
        f"At most {length} samples at a time." if max(map(len, pieces.values())) > length else "",
    )
    control = _html.menu(figures, "Trial" if trials > 1 else "Part", list(pieces)) if len(pieces) > 1 else ""
    if len(shown) > 1:
        control += _html.menu(figures, "Show", group_names(shown), len(pieces))
    plot = _html.plot("trajectories", "Components over time", 90 + 96 * len(shown[0]))
    return Section("time", "Over time", note + _html.panel(plot), figures, control)


def _pieces(report: Report) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Rows of the first trials, which are runs of equal labels, by name; of one long series, of parts of it."""
    count = len(report.codes)
    if report.trials is not None:
        starts = np.flatnonzero(report.trials[1:] != report.trials[:-1]) + 1
        runs = np.split(np.arange(count), starts)
        if len(runs) > 1:
            names = _charts.labels(str(report.trials[run[0]]) for run in runs[:_TRIALS])
            return dict(zip(names, runs, strict=False)), len(runs)
    longest = _NUMBERS // (3 * report.codes.shape[1])
    if count <= longest:
        return {"all": np.arange(count)}, 1
    middle = (count - longest) // 2
    rows = np.arange(count)
    return {"the beginning": rows[:longest], "the middle": rows[middle:][:longest], "the end": rows[-longest:]}, 1


def embedding(report: Report) -> Section | None:
    """Components against each other in three dimensions, coloured by what is known of the samples."""
    count = report.codes.shape[1]
    if report.space is None or count < 2:
        return None
    rows = evenly(len(report.codes), _POINTS)
    shown = groups(count, min(3, count))
    names = _charts.labels(report.names_of_components)
    colours = _colours(report)
    states = [
        _fit_charts.embedding(report.codes[rows][:, group], [names[index] for index in group], values[rows])
        for group in shown
        for values in colours.values()
    ]
    figures: dict[str, list[Figure]] = {"embedding": states}
    solid = count > 2
    note = _html.note(
        "Each point is a sample." if len(rows) == len(report.codes) else f"Each point is one of {len(rows)} samples.",
        f"Coloured by {next(iter(colours))}." if len(colours) == 1 else "",
        "The button turns the picture." if solid else "",
    )
    control = _html.turn("embedding") if solid else ""
    control += _html.menu(figures, "Colour", list(colours)) if len(colours) > 1 else ""
    if len(shown) > 1:
        control += _html.menu(figures, "Show", group_names(shown), len(colours))
    plot = _html.plot("embedding", "Components against each other", None, "square")
    return Section("embedding", "The embedding", note + _html.panel(plot), figures, control)


def _colours(report: Report) -> dict[str, NDArray[Any]]:
    """What to colour by: behaviour first, then trial and time, or the order of samples."""
    found = dict(list(report.colours.items())[:_COLOURS])
    if report.trials is not None:
        found["trial"] = report.trials
    if report.time is not None:
        found[report.time_name] = report.time
    elif report.series or not found:
        found["sample number"] = np.arange(len(report.codes))
    return found
