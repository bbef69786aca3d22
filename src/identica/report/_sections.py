"""The parts of a report's page: each a heading, some HTML, and the charts that belong there."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from identica._words import with_article
from identica.metrics import SCORES, Score, correlations, linear_r2, mcc
from identica.report import _charts, _fit_sections, _html
from identica.report._charts import Figure
from identica.report._groups import group_names, groups
from identica.report._matched import matched_components
from identica.report._pictures import along_components, along_factors, example_pairs
from identica.report._section import Section
from identica.report._trust import trust

if TYPE_CHECKING:
    from identica.report.page import Report

__all__ = ["make_sections"]

_FACTORS, _POINTS_OF_FACTORS = 20, 6000
_MATRIX = 40
_IN_PAIRS, _POINTS_OF_PAIRS = 5, 400


def make_sections(report: Report) -> list[Section]:
    """All parts there is something to show of, in the order of the page."""
    matched = None if report.latents is None else mcc(report.latents, report.codes)
    made = (
        _fit_sections.data(report),
        _training(report),
        trust(report),
        _fit_sections.law(report),
        _fit_sections.marginals(report),
        _factors(report, matched),
        matched_components(report),
        _matrix(report, matched),
        _widths(report),
        _fit_sections.channels(report),
        _fit_sections.over_time(report),
        _fit_sections.embedding(report),
        _pairs(report),
        example_pairs(report),
        along_factors(report),
        along_components(report),
        _assumption(report),
        _refits(report),
        _settings(report),
    )
    return [section for section in made if section is not None]


_BITS = {"held_out_bits": "held-out pairs", "fitted_bits": "fitted pairs"}


def _training(report: Report) -> Section | None:
    if not report.curve:
        return None
    found = {key: score.symbol for key, score in SCORES.items() if any(key in row for row in report.curve)}
    watched = any("held_out_loss" in row for row in report.curve)
    losses = {"loss": "fitted pairs", "held_out_loss": "held-out pairs"} if watched else {"loss": "loss"}
    bits = {key: name for key, name in _BITS.items() if any(key in row for row in report.curve)}
    parts = {key: key for row in report.curve for key in row if key not in {"step", *losses, *SCORES, *bits}}
    losses |= parts
    figures = {"loss": [_charts.curves(report.curve, losses, "loss")]}
    if found:
        figures["scores"] = [_charts.curves(report.curve, found, "score, %")]
    if bits:
        figures["bits"] = [_charts.curves(report.curve, bits, "bits a pair")]
    described = {name: f"{name.capitalize()} over the steps of training" for name in figures}
    panels = "".join(_html.panel(_html.plot(name, described[name], 280)) for name in figures)
    note = _html.note(
        "The loss falls as the encoder learns.",
        f"It is the sum of its parts: {', '.join(parts)}." if parts else "",
        "If that of held-out pairs turns upwards, pairs are learnt by heart from there on. Compare how the two move,"
        " not how high they are: the loss is lower among fewer pairs."
        if watched
        else "",
        "The scores need the true factors: they were watched, never trained on." if found else "",
        "Bits a pair need no factors: 0 is chance. While those of held-out pairs rise, more steps help."
        if bits
        else "",
    )
    return Section("training", "Training", f'{note}<div class="two">{panels}</div>', figures)


def _factors(report: Report, matched: Score | None) -> Section | None:
    if report.latents is None or matched is None:
        return None
    factors = report.latents.shape[1]
    count = min(_FACTORS, factors)
    points = _charts.evenly(len(report.codes), min(1500, _POINTS_OF_FACTORS // count))
    states = [_by_component(report, matched, points, count)]
    fits_a_map = len(report.codes) // 2 > report.codes.shape[1] + 1
    if fits_a_map:
        states.append(_by_affine_map(report, points, count))
    figures = {f"factor-{index}": [state[index] for state in states] for index in range(count)}
    note = _html.note(
        "Each panel is a true factor; points on a line, rising or falling, mean that it is recovered.",
        "One component recovers it up to scale and sign; the best affine map of all components tells whether the factor"
        " is in there at all."
        if fits_a_map
        else "",
        _first(count, factors, "factors"),
    )
    panels = "".join(
        _html.panel(_html.plot(name, f"Recovered against true factor {index + 1}", 220))
        for index, name in enumerate(figures)
    )
    first = 0 if report.ambiguity == "permutation" else 1
    control = _html.choice(figures, ("One component", "Affine map"), first) if fits_a_map else ""
    return Section("factors", "Recovered against true", note + _html.many(panels, count), figures, control)


def _by_component(report: Report, matched: Score, points: Any, count: int) -> list[Figure]:
    assert report.latents is not None
    assert matched.assignment is not None
    truths, found = _charts.labels(report.names_of_latents), _charts.labels(report.names_of_components)
    table = correlations(np.asarray(report.latents, np.float64), np.asarray(report.codes, np.float64))
    made = []
    for index, assigned in enumerate(matched.assignment[:count]):
        truth = report.latents[points, index]
        title = f"|r| = {matched.per_factor[index]:.3f}"
        component = assigned
        if assigned < 0:  # the nearest of those that other factors have
            component = int(np.argmax(np.abs(table[index])))
            title = f"no component left: |r| = {abs(table[index, component]):.3f}"
        names = truths[index], found[component]
        made.append(_charts.factor(truth, report.codes[points, component], names, title))
    return made


def _by_affine_map(report: Report, points: Any, count: int) -> list[Figure]:
    """What the best affine map of all components makes of each factor."""
    assert report.latents is not None
    scores = linear_r2(report.latents, report.codes).per_factor
    inputs = np.column_stack([report.codes, np.ones(len(report.codes))])
    predicted = inputs[points] @ np.linalg.lstsq(inputs, report.latents, rcond=None)[0]
    truths = _charts.labels(report.names_of_latents)
    return [
        _charts.factor(
            report.latents[points, index],
            predicted[:, index],
            (truths[index], "affine map"),
            f"R² = {scores[index]:.3f}",
        )
        for index in range(count)
    ]


def _matrix(report: Report, matched: Score | None) -> Section | None:
    if report.latents is None or matched is None:
        return None
    assert matched.assignment is not None
    table = correlations(np.asarray(report.latents, np.float64), np.asarray(report.codes, np.float64))
    rows, columns = _charts.labels(report.names_of_latents), _charts.labels(report.names_of_components)
    chosen = [component for component in matched.assignment if component >= 0]
    order = chosen + [component for component in range(len(columns)) if component not in set(chosen)]
    before = _charts.matrix(table[:_MATRIX, :_MATRIX], rows[:_MATRIX], columns[:_MATRIX])
    after = _charts.matrix(
        table[:_MATRIX, order[:_MATRIX]], rows[:_MATRIX], [columns[component] for component in order[:_MATRIX]]
    )
    figures = {"correlations": [before, after]}
    note = _html.note(
        "Correlation of every true factor (rows) with every component (columns).",
        "Components come in any order and with any sign: the assignment puts those that match on the diagonal.",
        _first(_MATRIX, max(table.shape), "factors or components"),
    )
    height = int(np.clip(90 + 38 * min(_MATRIX, len(rows)), 180, 620))
    plot = _html.plot("correlations", "Correlation matrix of factors and components", height, "matrix")
    control = _html.choice(figures, ("Before assignment", "After"), 1)
    return Section("correlations", "Factors and components", note + _html.panel(plot), figures, control)


def _widths(report: Report) -> Section | None:
    if report.widths is None:
        return None
    count = len(report.widths)
    unused = [] if report.used is None else sorted(set(range(count)) - set(report.used))
    figures = {"widths": [_charts.widths(report.widths, _charts.labels(report.names_of_components))]}
    named = ", ".join(report.names_of_components[index] for index in unused)
    note = _html.note(
        "How far partners lie apart in each component, in units of its code: small where a component tells much.",
        f"Spare, and not drawn: {named}. The other components tell all that these do." if unused else "",
    )
    plot = _html.plot("widths", "Width of the partners' scatter by component", 260)
    return Section("widths", "Width of each component", note + _html.panel(plot), figures)


def _pairs(report: Report) -> Section | None:
    count = report.codes.shape[1]
    if count < 2:
        return None
    names = _charts.labels(report.names_of_components)
    shown = groups(count, _IN_PAIRS)
    points = _charts.evenly(len(report.codes), _POINTS_OF_PAIRS)
    states = [
        [
            _charts.factor(report.codes[points, one], report.codes[points, other], (names[one], names[other]), "")
            for one, other in combinations(group, 2)
        ]
        for group in shown
    ]
    figures = {f"pair-{place}": list(panel) for place, panel in enumerate(zip(*states, strict=True))}
    note = _html.note("Components against each other. Where one depends on another, points are no even cloud.")
    panels = "".join(_html.panel(_html.plot(name, "Two components against each other", 200)) for name in figures)
    control = _html.menu(figures, "Show", group_names(shown)) if len(shown) > 1 else ""
    return Section("pairs", "Pairs of components", note + _html.many(panels, len(figures)), figures, control)


def _assumption(report: Report) -> Section | None:
    selection = report.selection or {}
    verdict, candidates = report.verdict or selection.get("verdict"), selection.get("candidates")
    if not verdict and not candidates:
        return None
    body = _html.verdict(verdict) if verdict else ""
    if candidates:
        body += _html.panel(_html.ranking(candidates))
    return Section("assumption", "The assumption", body)


def _refits(report: Report) -> Section | None:
    found = report.consistency
    if not found:
        return None
    between = found["ambiguity"]
    chance = found.get("mcc_chance") if between == "permutation" else None
    figures = {"agreement": [_charts.bars(found["per_component"], chance)]}
    note = _html.note(
        f"How well each component of the first of {found['runs']} fits comes back in the others, up to"
        f" {with_article(between)}: {found['agreement']:.1f} % on average."
    )
    verdict = _html.verdict(found["verdict"]) if "verdict" in found else ""
    plot = _html.plot("agreement", "Agreement between refits by component", 280)
    return Section("refits", "Do refits agree?", note + verdict + _html.panel(plot), figures)


def _settings(report: Report) -> Section | None:
    parts = [
        _html.panel(f"<h3>{title}</h3>{_html.table(content)}")
        for title, content in (("Settings", report.settings), ("Versions", report.versions))
        if content
    ]
    return Section("settings", "How it was made", f'<div class="two">{"".join(parts)}</div>') if parts else None


def _first(shown: int, count: int, nouns: str) -> str:
    return f"The first {shown} of {count} {nouns}." if shown < count else ""
