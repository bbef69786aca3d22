"""Paper against ours, row by row, from stored records only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any, final

from identica import _checks
from identica._checks import InputError
from identica.experiments.definition import Metric, Reference
from identica.experiments.paper import ROWS, metric_of
from identica.experiments.store import Record

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
    identity: Cell
    paper_supervised: Cell | None
    supervised: Cell | None
    paper_unsupervised: Cell | None
    unsupervised: Cell
    other_metric: str
    other: Cell
    seconds: float


def summarise(records: Iterable[Record]) -> list[Line]:
    """Group records that differ in their seed alone, and average over seeds."""
    every = list(records)
    groups: dict[str, list[Record]] = {}
    for record in every:
        if record["kind"] == "unsupervised":
            same = {key: value for key, value in record["settings"].items() if key != "seed"}
            key = json.dumps([record["row"], record["protocol"], record["steps"], same], sort_keys=True)
            groups.setdefault(key, []).append(record)
    baselines = [record for record in every if record["kind"] == "supervised"]
    order = {name: index for index, name in enumerate(ROWS)}
    keys = sorted(groups, key=lambda key: (order.get(groups[key][0]["row"], len(order)), key))
    return [_line(groups[key], baselines) for key in keys]


def make_table(records: Iterable[Record], style: str = "text") -> str:
    """The table of all records as `text`, `markdown`, `latex` or `json`."""
    _checks.choice("format", style, FORMATS)
    lines = summarise(records)
    if not lines:
        raise InputError("there are no finished records to make a table of")
    return FORMATS[style](lines)


def _line(records: Sequence[Record], baselines: Sequence[Record]) -> Line:
    first, settings = records[0], records[0]["settings"]
    row = ROWS.get(first["row"])
    metric = metric_of(first)
    shared = ("space", "marginal", "model_space", "dim", "observed")
    supervised = [
        record
        for record in baselines
        if record["protocol"] == first["protocol"] and all(record["settings"][key] == settings[key] for key in shared)
    ]
    return Line(
        row=first["row"],
        protocol=first["protocol"],
        steps=first["steps"],
        process=_process(settings),
        model=", ".join((settings["model_space"], settings["model_conditional"])),
        metric=metric,
        paper_identity=_published(row and row.identity),
        identity=_measured(records, f"identity_{metric}"),
        paper_supervised=_published(row and row.supervised),
        supervised=_measured(supervised, metric) if supervised else None,
        paper_unsupervised=_published(row and row.unsupervised),
        unsupervised=_measured(records, metric),
        other_metric=_OTHER[metric],
        other=_measured(records, _OTHER[metric]),
        seconds=mean(record["seconds"] for record in records),
    )


def _process(settings: Mapping[str, Any]) -> str:
    """The process in words; its size only if it is not the paper's."""
    words = [settings["space"], settings["marginal"], settings["conditional"]]
    size = settings["dim"], settings["observed"]
    if size != _SIZE_OF_THE_PAPER:
        words.append("N = {}, K = {}".format(*size))
    return ", ".join(words)


def _published(reference: Reference | None) -> Cell | None:
    return None if reference is None else Cell(*reference)


def _measured(records: Sequence[Record], key: str) -> Cell:
    values = [record[key] for record in records]
    return Cell(mean(values), stdev(values) if len(values) > 1 else None, len(values))


_SIZE_OF_THE_PAPER = (10, 10)
_OTHER: dict[str, Metric] = {"r2": "mcc", "mcc": "r2"}
_SYMBOLS = {"r2": "R²", "mcc": "MCC"}

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
        _SYMBOLS[line.metric],
        f"{_score(line.paper_identity)} / {_score(line.identity)}",
        f"{_score(line.paper_supervised)} / {_score(line.supervised)}",
        _score(line.paper_unsupervised),
        _score(line.unsupervised),
        f"{_SYMBOLS[line.other_metric]} {_score(line.other)}",
        str(line.unsupervised.seeds),
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
