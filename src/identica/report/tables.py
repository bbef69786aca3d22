"""Paper against ours, row by row, from stored records only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import final

from identica import _checks
from identica._checks import InputError
from identica.experiments.definition import Row, Subject
from identica.experiments.paper import ROWS, rows_of_record
from identica.experiments.store import Record
from identica.metrics import symbol

__all__ = ["FORMATS", "Line", "make_table", "summarise"]


@final
@dataclass(frozen=True)
class Cell:
    """A score, published or measured: mean, standard deviation and number of seeds."""

    mean: float
    deviation: float | None
    seeds: int | None = None

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ± {self.deviation:.2f}"


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


def summarise(records: Iterable[Record], rows: Mapping[str, Row] = ROWS) -> list[Line]:
    """Group records that differ in their seed alone, average over seeds, and give each row of `rows` its line.

    A record that is the experiment of several rows stands in all of their lines; one of no row is called `own`.
    """
    every = list(records)
    groups: dict[str, list[Record]] = {}
    for record in every:
        if record["kind"] == "unsupervised":
            same = {key: value for key, value in record["settings"].items() if key != "seed"}
            groups.setdefault(json.dumps([record["protocol"], same], sort_keys=True), []).append(record)
    baselines = [record for record in every if record["kind"] == "supervised"]
    order = {name: index for index, name in enumerate(rows)}
    lines = []
    for key, group in groups.items():
        known: Sequence[Row | None] = rows_of_record(group[0], rows) or [None]
        for row in known:
            place = len(order) if row is None else order[row.id]
            lines.append((place, key, _line(row, group, baselines)))
    return [line for *_, line in sorted(lines, key=lambda entry: entry[:2])]


def make_table(records: Iterable[Record], style: str = "text", rows: Mapping[str, Row] = ROWS) -> str:
    """The table of all records as `text`, `markdown`, `latex` or `json`, with the names of `rows`."""
    _checks.choice("format", style, FORMATS)
    lines = summarise(records, rows)
    if not lines:
        raise InputError("there are no finished records to make a table of")
    return FORMATS[style](lines)


def _line(row: Row | None, records: Sequence[Record], baselines: Sequence[Record]) -> Line:
    first = records[0]
    score, *others = _scores_of(row, first)
    same = ("baseline", "protocol")
    supervised = [one for one in baselines if all(one[key] == first[key] for key in same)]
    return Line(
        row="own" if row is None else row.id,
        protocol=first["protocol"],
        steps=first["steps"],
        process=first["source"],
        model=first["learner"],
        metric=score,
        paper_identity=_published(row, "identity"),
        identity=_measured([record["identity"].get(score) for record in records]),
        paper_supervised=_published(row, "supervised"),
        supervised=_measured([_value(record, score) for record in supervised]),
        paper_unsupervised=_published(row, "unsupervised"),
        unsupervised=_measured([_value(record, score) for record in records]),
        other_metric=others[0] if others else None,
        other=_measured([_value(record, others[0]) for record in records]) if others else None,
        seconds=mean(record["seconds"] for record in records),
    )


def _value(record: Record, score: str) -> float | None:
    """A score in percent; None if the record was made without it."""
    found = record["scores"].get(score)
    return None if found is None else found["value"]


def _scores_of(row: Row | None, record: Record) -> list[str]:
    """Names of the scores to show: the row's, or first the one that the theory is about."""
    if row is not None:
        return list(row.scores)
    first = "mcc" if record["identified_up_to"] == "permutation" else "r2"
    return sorted(record["scores"], key=lambda name: name != first)


def _published(row: Row | None, subject: Subject) -> Cell | None:
    reference = None if row is None else row.reference(subject)
    return None if reference is None else Cell(*reference)


def _measured(values: Sequence[float | None]) -> Cell | None:
    known = [value for value in values if value is not None]
    return Cell(mean(known), stdev(known) if len(known) > 1 else None, len(known)) if known else None


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
        f"{_score(line.paper_identity)} / {_score(line.identity)}",
        f"{_score(line.paper_supervised)} / {_score(line.supervised)}",
        _score(line.paper_unsupervised),
        _score(line.unsupervised),
        "–" if line.other_metric is None else f"{symbol(line.other_metric)} {_score(line.other)}",
        "–" if line.unsupervised is None else str(line.unsupervised.seeds),
        str(line.steps),
        f"{line.seconds:.0f}",
        line.protocol,
    )


def _score(cell: Cell | None) -> str:
    return "–" if cell is None else str(cell)


def _text(lines: Sequence[Line]) -> str:
    rows = [_HEADER, *map(_cells, lines)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(_HEADER))]
    printed = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([printed[0], "  ".join("-" * width for width in widths), *printed[1:]])


def _markdown(lines: Sequence[Line]) -> str:
    rows = [_HEADER, ("---",) * len(_HEADER), *map(_cells, lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _latex(lines: Sequence[Line]) -> str:
    replacements = {"±": r"$\pm$", "²": "$^2$", "–": "--", "_": r"\_"}

    def escape(text: str) -> str:
        for plain, command in replacements.items():
            text = text.replace(plain, command)
        return text

    body = [" & ".join(map(escape, cells)) + r" \\" for cells in (_HEADER, *map(_cells, lines))]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' * len(_HEADER)}}}",
            r"\hline",
            body[0],
            r"\hline",
            *body[1:],
            r"\hline",
            r"\end{tabular}",
        ]
    )


def _json(lines: Sequence[Line]) -> str:
    return json.dumps([asdict(line) for line in lines], indent=1, ensure_ascii=False)


FORMATS: dict[str, Callable[[Sequence[Line]], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
}
"""How a table can be written: names of formats, and the functions that write them."""
