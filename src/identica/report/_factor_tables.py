"""Tables of scores by factor, where codes outnumber factors: which code each factor took, and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from identica.experiments.definition import Row
from identica.experiments.store import Record
from identica.report._cells import Cell, measured, shown

__all__ = ["ByFactor", "by_factor", "factor_cells", "factor_header"]


@final
@dataclass(frozen=True)
class ByFactor:
    """A score by factor.

    Args:
        scores: Of each factor, by its name.
        outputs: The code that each factor took, counted from 1, for each seed; 0 if none was left.
    """

    scores: dict[str, Cell | None]
    outputs: list[list[int]]


def by_factor(row: Row, records: Sequence[Record], score: str) -> ByFactor | None:
    """The scores of records of a row by factor; None if no code is spare, or if the score matches none."""
    found = [record["scores"].get(score, {}) for record in records]
    if not all("assignment" in one for one in found) or row.learner.code_space.dim <= len(records[0]["factors"]):
        return None
    columns = zip(*(one["per_factor"] for one in found), strict=True)
    names = records[0]["factors"]
    return ByFactor(
        {name: measured(list(column)) for name, column in zip(names, columns, strict=True)},
        [[code + 1 for code in one["assignment"]] for one in found],
    )


def factor_header(one: ByFactor) -> tuple[str, ...]:
    """Titles of the columns."""
    return "row", "model", *(f"{name}, ours" for name in one.scores), "codes that they took, by seed"


def factor_cells(row: str, model: str, one: ByFactor) -> tuple[str, ...]:
    """The columns of a line."""
    outputs = "; ".join(" ".join(map(str, codes)) for codes in one.outputs)
    return row, model, *map(shown, one.scores.values()), outputs
