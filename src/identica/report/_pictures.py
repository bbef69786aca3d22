"""The parts of a page that show pictures: pairs, and what moves along each component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identica.report import _html
from identica.report._images import averages, decoded, pair_sheet, traversals
from identica.report._section import Section

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["along_components", "example_pairs"]


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


def example_pairs(report: Report) -> Section | None:
    """Some pairs that were trained on."""
    if report.image_pairs is None:
        return None
    note = _html.note("Pairs as training sees them, drawn at random: the anchor, and its partner to the right.")
    return Section("examples", "Pairs", note + _html.panel(_html.sheet(pair_sheet(report.image_pairs))))
