"""The parts of a page that show pictures: pairs, and what moves along each component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identica.report import _charts, _html
from identica.report._charts import Figure
from identica.report._images import averages, decoded, moved_factors, pair_sheet, traversals
from identica.report._section import Section

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["along_components", "along_factors", "example_pairs"]


def along_components(report: Report) -> Section | None:
    """Of each component the averages of pictures at its quantiles, single pictures, and what a decoder draws."""
    if report.images is None:
        return None
    codes = report.codes[: len(report.images)]
    means, found = averages(report.images, codes), traversals(report.images, codes)
    count = report.codes.shape[1]
    note = _html.note(
        "From low to high values of one component. Above: the average of all pictures near each value.",
        "Below: single pictures of the data, the other components as near to their medians as the data allow.",
        "" if report.decoded is None else "Last: what the decoder draws, all other components at their medians.",
        f"The first {len(found)} of {count} components." if len(found) < count else "",
    )
    drawn = [] if report.decoded is None else decoded(report.decoded, report.codes)
    strips = (
        _html.strip(name, mean) + _html.strip("", single) + (_html.strip("", drawn[place]) if drawn else "")
        for place, (name, mean, single) in enumerate(zip(report.names_of_components, means, found, strict=False))
    )
    return Section("pictures", "Along each component", note + _html.panel("".join(strips)))


def along_factors(report: Report) -> Section | None:
    """What each factor does to a picture, all others kept, and what components do along the way."""
    if report.traversal is None:
        return None
    pictures = moved_factors(report.traversal.images, report.traversal.values)
    shown, count = len(pictures), len(report.names_of_latents)
    names, figures = report.names_of_latents[:shown], _recovered_along(report, shown)
    note = _html.note(
        "Each factor from its smallest to its largest value, all others in the middle.",
        f"Pictures: {report.traversal.how}.",
        "Below: the component that was matched with the factor, and all others in grey. A matched component should rise"
        " or fall all the way, and no grey one should move."
        if figures
        else "",
        f"The first {shown} of {count} factors." if shown < count else "",
    )
    strips = zip(names, pictures, strict=True)
    charts = "".join(
        _html.panel(_html.plot(place, f"Components along {name}", 200))
        for place, name in zip(figures, names, strict=False)
    )
    body = note + _html.panel("".join(_html.strip(*strip) for strip in strips))
    return Section("along", "Along each factor", body + (_html.many(charts, len(figures)) if charts else ""), figures)


def _recovered_along(report: Report, count: int) -> dict[str, list[Figure]]:
    """A chart for each of the first factors, if it is known what was recovered."""
    traversal, recovered = report.traversal, report.recovered
    if traversal is None or recovered is None:
        return {}
    names = _charts.labels(report.names_of_latents), _charts.labels(report.names_of_components)
    return {
        f"along-{place}": [
            _charts.along(
                traversal.values, recovered.scaled[place], recovered.components[place], names[0][place], names[1]
            )
        ]
        for place in range(count)
    }


def example_pairs(report: Report) -> Section | None:
    """Some pairs that were trained on."""
    if report.image_pairs is None:
        return None
    note = _html.note("Pairs as training sees them, drawn at random: the anchor, and its partner to the right.")
    return Section("examples", "Pairs", note + _html.panel(_html.sheet(pair_sheet(report.image_pairs))))
