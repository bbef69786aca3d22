"""A part of a report's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from identica.report._charts import Figure

__all__ = ["Section"]


@final
@dataclass(frozen=True)
class Section:
    """A part of the page.

    Args:
        name: Its anchor.
        title: Its heading.
        body: What comes below, as HTML.
        figures: The states of each chart in it, by the name of its place.
        control: What stands beside the heading, as HTML.
    """

    name: str
    title: str
    body: str
    figures: Mapping[str, Sequence[Figure]] = field(default_factory=dict)
    control: str = ""
