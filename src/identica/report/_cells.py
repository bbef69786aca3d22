"""Scores in a table, from rows and records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import final

from identica.experiments.definition import Row, Subject
from identica.experiments.evaluation import PREFIXES
from identica.experiments.store import Record
from identica.sources import Part

__all__ = ["Cell", "measured", "published", "shown", "value"]


@final
@dataclass(frozen=True)
class Cell:
    """A score, published or measured: mean, standard deviation and number of seeds."""

    mean: float
    deviation: float | None
    seeds: int | None = None

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


def value(record: Record, score: str, part: Part = "test") -> float | None:
    """A score in percent of a part of what was scored; None if the record was made without it."""
    found = record.get(f"{PREFIXES[part]}scores", {}).get(score)
    return None if found is None else found["value"]


def measured(values: Sequence[float | None]) -> Cell | None:
    """The mean of what is known."""
    known = [one for one in values if one is not None]
    return Cell(mean(known), stdev(known) if len(known) > 1 else None, len(known)) if known else None


def published(row: Row | None, subject: Subject, score: str | None = None) -> Cell | None:
    """What the paper has of a row; of its first score if none is named."""
    reference = None if row is None else row.reference(subject, score)
    return None if reference is None else Cell(*reference)


def shown(cell: Cell | None) -> str:
    """What a table shows."""
    return "–" if cell is None else str(cell)
