"""The part of a page that says which component each factor took, where components are spare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identica.report import _html
from identica.report._section import Section

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["matched_components"]


def matched_components(report: Report) -> Section | None:
    """A line for each factor: its component and scores."""
    if not report.matched:
        return None
    titles = list(report.matched[0])
    rows = [[str(line[title]) for title in titles] for line in report.matched]
    note = _html.note(
        "Each factor and the component that was matched with it, one to one; components that no factor took are spare."
    )
    return Section("matched", "Score by factor", note + _html.panel(_html.grid("Score by factor", titles, rows, None)))
