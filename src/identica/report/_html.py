"""Pieces of HTML; what comes from outside is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from identica.report._images import Picture

__all__ = [
    "choice",
    "grid",
    "many",
    "menu",
    "note",
    "notice",
    "panel",
    "plot",
    "ranking",
    "sheet",
    "strip",
    "table",
    "turn",
    "verdict",
]

_PER_ROW = 5


def note(*sentences: str) -> str:
    """What a section shows, in a muted tone."""
    return f'<p class="note">{html.escape(" ".join(filter(None, sentences)))}</p>'


def verdict(text: str) -> str:
    """What was found, in words that stand out."""
    return f'<div class="verdict"><p>{html.escape(text)}</p></div>'


def notice(heading: str, text: str, tone: str) -> str:
    """What must be known before the rest is read; its tone is `good`, `grave` or nothing."""
    style = f"notice {tone}".strip()
    return f'<div class="{style}" role="note"><p><b>{html.escape(heading)}</b> {html.escape(text)}</p></div>'


def panel(content: str) -> str:
    """A box around HTML."""
    return f'<div class="panel">{content}</div>'


def plot(name: str, description: str, height: int | None, style: str = "") -> str:
    """The place of a chart; its style decides on the height if none is given."""
    size = "" if height is None else f' style="height:{height}px"'
    return f'<div class="plot {style}" id="plot-{name}" role="img" aria-label="{html.escape(description)}"{size}></div>'


def choice(figures: Iterable[str], names: Sequence[str], first: int) -> str:
    """Buttons that switch between the states of charts."""
    buttons = "".join(
        f'<button type="button" aria-pressed="{str(index == first).lower()}">{html.escape(name)}</button>'
        for index, name in enumerate(names)
    )
    targets = " ".join(figures)
    return f'<div class="choice" role="group" aria-label="What to show" data-figures="{targets}">{buttons}</div>'


def menu(figures: Iterable[str], title: str, names: Sequence[str], stride: int = 1) -> str:
    """A list to choose the state of charts from: `stride` states lie between two entries."""
    options = "".join(f"<option>{html.escape(name)}</option>" for name in names)
    targets = " ".join(figures)
    return (
        f'<label class="menu"><span>{html.escape(title)}</span>'
        f'<select data-figures="{targets}" data-stride="{stride}">{options}</select></label>'
    )


def turn(figure: str) -> str:
    """A button that turns a chart of three dimensions."""
    return f'<button type="button" data-turn="{figure}">Turn</button>'


def many(panels: str, count: int) -> str:
    """Panels in rows that are full: the last row is stretched."""
    rows = -(-count // _PER_ROW)
    return f'<div class="many" style="--per-row:{-(-count // rows)}">{panels}</div>'


def strip(name: str, pictures: Iterable[Picture]) -> str:
    """Pictures along a component, with their codes."""
    escaped = html.escape(name)
    heading = f"<h3>{escaped}</h3>" if name else ""
    shown = "".join(
        f'<li><figure><img src="{picture.address}" alt="{escaped} at {picture.code:.3g}">'
        f"<figcaption>{picture.code:.2f}</figcaption></figure></li>"
        for picture in pictures
    )
    return f'<div class="strip{"" if name else " below"}">{heading}<ul>{shown}</ul></div>'


def sheet(addresses: Iterable[str]) -> str:
    """Pictures in rows, without words."""
    shown = "".join(
        f'<li><img src="{address}" alt="pair {place}"></li>' for place, address in enumerate(addresses, start=1)
    )
    return f'<div class="strip sheet"><ul>{shown}</ul></div>'


def table(content: Mapping[str, Any]) -> str:
    """Names and values, nested ones too."""
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
        for name, value in _flat(content)
    )
    return f'<table class="pairs"><tbody>{body}</tbody></table>'


def grid(name: str, titles: Sequence[str], rows: Sequence[Sequence[str]], chosen: int | None, style: str = "") -> str:
    """Rows below titles, one of them marked; the first entry of each row is its heading."""
    head = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in titles)
    body = "".join(_row(row, chosen=place == chosen) for place, row in enumerate(rows))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(name)}"><table class="grid {style}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def ranking(candidates: Sequence[Mapping[str, Any]]) -> str:
    """The candidates of a `Selection.summary()`, the chosen one first."""
    titles = ("space", "partners scatter by", "as fitted", "bits a pair", "behind the best", "refits agree", "")
    rows = [_candidate(candidate, chosen=place == 0) for place, candidate in enumerate(candidates)]
    return grid("Assumptions compared", titles, rows, 0, "ranking")


def _row(cells: Sequence[str], *, chosen: bool) -> str:
    style = ' class="chosen"' if chosen else ""
    heading, *others = map(html.escape, cells)
    return f'<tr{style}><th scope="row">{heading}</th>' + "".join(f"<td>{one}</td>" for one in others) + "</tr>"


def _candidate(candidate: Mapping[str, Any], *, chosen: bool) -> list[str]:
    agreement = (candidate.get("consistency") or {}).get("agreement")
    tied = "as good as the best" if candidate.get("tied") else ""
    return [
        str(candidate["space"]),
        str(candidate["conditional"]),
        str(candidate.get("fitted", "")),
        f"{candidate['bits']:.3f}",
        f"{candidate['behind']:.3f} ± {candidate['behind_error']:.3f}",
        "" if agreement is None else f"{agreement:.1f} %",
        str(candidate.get("objection") or ("chosen" if chosen else tied)),
    ]


def _flat(content: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for key, value in content.items():
        name = f"{above}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}, ")
        else:
            yield name, _plain(value)


def _plain(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "–"
    return str(value) or "–"
