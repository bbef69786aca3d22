"""Paper against ours, row by row, from stored records only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import final

from identica import _checks
from identica._checks import InputError
from identica.experiments.definition import Row
from identica.experiments.paper import ROWS, rows_of_record
from identica.experiments.restore import run_of
from identica.experiments.store import Record
from identica.metrics import symbol
from identica.report._cells import Cell, measured, published, shown, value
from identica.report._factor_tables import ByFactor, by_factor, factor_cells, factor_header
from identica.report._score_tables import ScoreLine, score_cells, score_header, score_line
from identica.report._seeds import grouped_over_seeds

__all__ = ["FORMATS", "Line", "make_table", "summarise"]


# Scores that a row of the first table may have.
_FEW = 2


@final
@dataclass(frozen=True)
class Line:
    """One row of the table."""

    row: str
    protocol: str
    steps: int
    process: str
    model: str
    metric: str
    paper_identity: Cell | None
    identity: Cell | None
    paper_supervised: Cell | None
    supervised: Cell | None
    paper_unsupervised: Cell | None
    unsupervised: Cell | None
    other_metric: str | None
    other: Cell | None
    seconds: float
    held_out: Cell | None = None
    by_factor: ByFactor | None = None


def summarise(records: Iterable[Record], rows: Mapping[str, Row] = ROWS) -> list[Line | ScoreLine]:
    """Group records that differ in their seed alone, average over seeds, and give each row of `rows` its line.

    A record that is the experiment of several rows stands in all of their lines; one of no row is called `own`. Rows of
    more than two scores have lines of their own kind. Wide codes that others learnt from have none.
    """
    every = _without_wide_codes(list(records))
    baselines = [record for record in every if record["kind"] == "supervised"]
    order = {name: index for index, name in enumerate(rows)}
    lines = []
    for key, group in grouped_over_seeds(every).items():
        known: Sequence[Row | None] = rows_of_record(group[0], rows) or [None]
        for row in known:
            place = len(order) if row is None else order[row.id]
            many = row is not None and len(row.scores) > _FEW
            line = score_line(row, group) if row is not None and many else _line(row, group, baselines)
            lines.append((place, key, line))
    return [line for *_, line in sorted(lines, key=lambda entry: entry[:2])]


def make_table(records: Iterable[Record], style: str = "text", rows: Mapping[str, Row] = ROWS) -> str:
    """The table of all records as `text`, `markdown`, `latex` or `json`, with the names of `rows`."""
    _checks.choice("format", style, FORMATS)
    lines = summarise(records, rows)
    if not lines:
        raise InputError("there are no finished records to make a table of")
    return FORMATS[style](lines)


def _without_wide_codes(records: Sequence[Record]) -> list[Record]:
    """These records but for those of wide codes that others of them learnt from."""
    wide = [run_of(record).of_wide_codes for record in records if "wide" in record["settings"]["recipe"]]
    settings = [run.settings for run in wide if run is not None]
    return [record for record in records if record["settings"] not in settings]


def _line(row: Row | None, records: Sequence[Record], baselines: Sequence[Record]) -> Line:
    first = records[0]
    score, *others = _scores_of(row, first)
    part, same = "test" if row is None else row.part, ("baseline", "protocol")
    supervised = [one for one in baselines if all(one[key] == first[key] for key in same)]
    return Line(
        row="own" if row is None else row.id,
        protocol=first["protocol"],
        steps=first["steps"],
        process=first["source"],
        model=first["learner"],
        metric=score,
        paper_identity=published(row, "identity"),
        identity=measured([record["identity"].get(score) for record in records]),
        paper_supervised=published(row, "supervised"),
        supervised=measured([value(record, score, part) for record in supervised]),
        paper_unsupervised=published(row, "unsupervised"),
        unsupervised=measured([value(record, score, part) for record in records]),
        other_metric=others[0] if others else None,
        other=measured([value(record, others[0], part) for record in records]) if others else None,
        seconds=mean(record["seconds"] for record in records),
        held_out=measured([value(record, score, "held_out") for record in records]),
        by_factor=None if row is None else by_factor(row, records, score),
    )


def _scores_of(row: Row | None, record: Record) -> list[str]:
    """Names of the scores to show: the row's, or first the one that the theory is about."""
    if row is not None:
        return list(row.scores)
    first = "mcc" if record["identified_up_to"] == "permutation" else "r2"
    return sorted(record["scores"], key=lambda name: name != first)


_HEADER = (
    "row",
    "process",
    "model",
    "metric",
    "identity, paper / ours",
    "supervised, paper / ours",
    "unsupervised, paper",
    "unsupervised, ours",
    "other score, ours",
    "seeds",
    "steps",
    "seconds",
    "protocol",
)


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.row,
        line.process,
        line.model,
        symbol(line.metric),
        f"{shown(line.paper_identity)} / {shown(line.identity)}",
        f"{shown(line.paper_supervised)} / {shown(line.supervised)}",
        shown(line.paper_unsupervised),
        shown(line.unsupervised),
        "–" if line.other_metric is None else f"{symbol(line.other_metric)} {shown(line.other)}",
        "–" if line.unsupervised is None else str(line.unsupervised.seeds),
        str(line.steps),
        f"{line.seconds:.0f}",
        line.protocol,
    )


Table = Sequence[Sequence[str]]


def _tables(lines: Sequence[Line | ScoreLine]) -> list[Table]:
    """Header and cells of the table of rows with few scores, of that of rows with many, and of scores by factor."""
    few = [line for line in lines if isinstance(line, Line)]
    many = [line for line in lines if isinstance(line, ScoreLine)]
    tables: list[Table] = []
    if few:
        tables.append(_with_held_out([_HEADER, *map(_cells, few)], few))
    if many:
        tables.append([score_header(many), *(score_cells(line, many) for line in many)])
    return tables + _factor_tables(few)


def _with_held_out(table: Table, lines: Sequence[Line]) -> Table:
    """The same with a column of scores on what was never trained on, if any line has one."""
    if all(line.held_out is None for line in lines):
        return table
    place = _HEADER.index("unsupervised, ours") + 1
    column = ["held out, ours", *(shown(line.held_out) for line in lines)]
    return [[*row[:place], cell, *row[place:]] for row, cell in zip(table, column, strict=True)]


def _factor_tables(lines: Sequence[Line]) -> list[Table]:
    """A table for each set of factors."""
    found: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for line in lines:
        if line.by_factor is not None:
            rows = found.setdefault(factor_header(line.by_factor), [])
            rows.append(factor_cells(line.row, line.model, line.by_factor))
    return [[header, *rows] for header, rows in found.items()]


def _text(table: Table) -> str:
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]))]
    printed = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([printed[0], "  ".join("-" * width for width in widths), *printed[1:]])


def _markdown(table: Table) -> str:
    header, *rows = table
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ("---",) * len(header), *rows))


def _latex(table: Table) -> str:
    replacements = {"±": r"$\pm$", "²": "$^2$", "–": "--", "_": r"\_", "β": r"$\beta$"}

    def escape(text: str) -> str:
        for plain, command in replacements.items():
            text = text.replace(plain, command)
        return text

    body = [" & ".join(map(escape, cells)) + r" \\" for cells in table]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' * len(table[0])}}}",
            r"\hline",
            body[0],
            r"\hline",
            *body[1:],
            r"\hline",
            r"\end{tabular}",
        ]
    )


def _written(write: Callable[[Table], str]) -> Callable[[Sequence[Line | ScoreLine]], str]:
    return lambda lines: "\n\n".join(write(table) for table in _tables(lines))


def _json(lines: Sequence[Line | ScoreLine]) -> str:
    return json.dumps([asdict(line) for line in lines], indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[Sequence[Line | ScoreLine]], str]] = {
    "text": _written(_text),
    "markdown": _written(_markdown),
    "latex": _written(_latex),
    "json": _json,
}
"""How a table can be written: names of formats, and the functions that write them."""
