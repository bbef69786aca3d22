"""What held-out pairs say of a fit: a notice at the top of the page, and a section with the numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from identica._words import in_words
from identica.report import _html
from identica.report._section import Section

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["notice", "trust"]

_TONES = {"supported": "good", "in part": "", "these pairs tell nothing": "grave", "not checked": ""}
_MEASURED = ("held_out_bits", "fitted_bits", "seconds")
_TITLES = {"pca_components": "directions kept", "window": "rows seen at a time"}


def notice(report: Report) -> str:
    """The verdict on a fit, as HTML; nothing for a run whose truth is known."""
    if report.judgement is None:
        return ""
    finding, reason = report.judgement.finding, report.judgement.reason
    heading = f"{finding[:1].upper()}{finding[1:]}."
    text = f"{reason[:1].upper()}{reason[1:]}."
    return _html.notice(heading, text, _TONES[finding])


def trust(report: Report) -> Section | None:
    """Fitted and held-out bits, what was chosen, and what was tried."""
    if report.held_out_bits is None and not report.chosen:
        return None
    panels = [_bits(report)] if report.held_out_bits is not None else []
    if report.chosen:
        content = {_title(name): in_words(value) for name, value in report.chosen.items()}
        panels.append(_html.panel(f"<h3>Settings of this fit</h3>{_html.table(content)}"))
    body = _html.note(*_reading(report)) + f'<div class="two">{"".join(panels)}</div>'
    if len(report.tried) > 1:
        body += f'<div class="panel below"><h3>What was tried</h3>{_tried(report)}</div>'
    return Section("trust", "How far to trust this fit", body)


def _reading(report: Report) -> list[str]:
    """How to read the numbers."""
    if report.held_out_bits is None:
        return [
            "No pairs were held out, so nothing here tells whether the components hold for other pairs.",
            "A fit without a budget of steps or seconds holds some out and chooses its settings by them.",
        ]
    count = report.held_out_pairs
    most = f", and {count} pairs cannot show more than {math.log2(count):.1f}" if count > 1 else ""
    return [
        f"Bits a pair: how much a code tells about its partner. 0 is chance{most}.",
        "Held-out pairs were never fitted: trust their number. Fitted pairs far above them were learnt by heart.",
        "The settings with the most held-out bits were kept; a smaller network goes first if it is about as good."
        if len(report.tried) > 1
        else "",
    ]


def _bits(report: Report) -> str:
    content = {"held-out pairs": f"{report.held_out_bits:z.2f}"}
    if report.fitted_bits is not None:
        content["as many fitted pairs"] = f"{report.fitted_bits:z.2f}"
    if report.held_out_pairs:
        content["number of held-out pairs"] = str(report.held_out_pairs)
    return _html.panel(f"<h3>Bits a pair</h3>{_html.table(content)}")


def _tried(report: Report) -> str:
    """A row for each attempt; settings that were the same in all of them are left out."""
    settings = [name for name in report.tried[0] if name not in _MEASURED]
    varied = [name for name in settings if len({str(one.get(name)) for one in report.tried}) > 1]
    titles = [*map(_title, varied), "bits, held out", "bits, fitted", "seconds"]
    rows = [
        [
            *(in_words(one.get(name)) for name in varied),
            _number(one.get("held_out_bits"), 2),
            _number(one.get("fitted_bits"), 2),
            _number(one.get("seconds"), 1),
        ]
        for one in report.tried
    ]
    kept = next((place for place, one in enumerate(report.tried) if report.chosen.items() <= one.items()), None)
    return _html.grid("Settings that were tried", titles, rows, kept)


def _title(name: str) -> str:
    return _TITLES.get(name, name)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:z.{digits}f}"
