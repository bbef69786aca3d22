"""Tables of rows with many scores: each beside what the paper has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from identica.experiments.definition import Row
from identica.experiments.store import Record
from identica.metrics import symbol
from identica.report._cells import Cell, measured, published, shown, value

__all__ = ["ScoreLine", "score_cells", "score_header", "score_line"]


@final
@dataclass(frozen=True)
class ScoreLine:
    """One row of the table.

    Args:
        row: Its name.
        protocol: Of the recipe.
        steps: Of the recipe.
        process: The source, with what there was of its data.
        model: The learner.
        paper: What the paper has of each score, by name.
        scores: What was measured, by name.
        seeds: How many runs.
        seconds: Of one run.
    """

    row: str
    protocol: str
    steps: int
    process: str
    model: str
    paper: dict[str, Cell | None]
    scores: dict[str, Cell | None]
    seeds: int
    seconds: float


def score_line(row: Row, records: Sequence[Record]) -> ScoreLine:
    """The line of a row, from its records."""
    first = records[0]
    return ScoreLine(
        row.id,
        first["protocol"],
        first["steps"],
        first["source"],
        first["learner"],
        {name: published(row, "unsupervised", name) for name in row.scores},
        {name: measured([value(record, name, row.part) for record in records]) for name in row.scores},
        len(records),
        sum(record["seconds"] for record in records) / len(records),
    )


def score_header(lines: Sequence[ScoreLine]) -> tuple[str, ...]:
    """Titles of the columns: one for each score that a line has."""
    return "row", "process", "model", *map(_title, _names(lines)), "seeds", "steps", "seconds", "protocol"


def score_cells(line: ScoreLine, lines: Sequence[ScoreLine]) -> tuple[str, ...]:
    """The columns of a line, of a table with these lines."""
    found = [f"{shown(line.paper.get(name))} / {shown(line.scores.get(name))}" for name in _names(lines)]
    ends = str(line.seeds), str(line.steps), f"{line.seconds:.0f}", line.protocol
    return line.row, line.process, line.model, *found, *ends


def _names(lines: Sequence[ScoreLine]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.scores))


def _title(name: str) -> str:
    return f"{symbol(name)}, paper / ours"
