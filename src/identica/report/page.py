"""A fit as one HTML file to show to others: interactive, without any network, in light and dark."""

from __future__ import annotations

import base64
import functools
import gzip
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import __version__
from identica._checks import InputError
from identica._files import replacing
from identica.attribution import Attribution
from identica.experiments import Recovered, Traversal
from identica.models import Ambiguity
from identica.report._charts import Array
from identica.report._section import Section
from identica.report._sections import make_sections
from identica.report._trust import notice
from identica.validation import Differences
from identica.verdicts import Verdict

__all__ = ["Report", "write_page"]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """What a page shows; every part but title and codes may be missing.

    Args:
        title: The heading.
        codes: Recovered codes, [samples, components].
        lead: A sentence or two below the heading.
        summary: Headline numbers, each a label and a value such as `("MCC", "99.7 %")`; the first stands out.
        latents: True factors, [samples, factors], where they are known.
        latent_names: A name for each factor.
        component_names: A name for each component.
        ambiguity: The map up to which factors can be recovered; decides which view of them comes first.
        widths: How wide partners scatter in each component, in units of its code.
        used: Numbers of the components that tell something about partners that the others do not; all if not given.
        curve: Steps of training: `step`, `loss`, and where they were watched `held_out_loss`, `mcc` and `r2` (percent).
        held_out_bits: Bits a pair on pairs that were not fitted.
        fitted_bits: Bits a pair on as many fitted pairs.
        held_out_pairs: How many pairs were not fitted.
        judgement: The verdict on the fit, which stands at the top.
        chosen: Settings of the fit: encoder, pca_components, scaling, window and steps.
        tried: Such settings with `held_out_bits`, `fitted_bits` and `seconds`, for each attempt.
        facts: What was fitted, by name: file, rows, columns, pairs and the like.
        space: Where a fit assumes factors to be: `sphere`, `box` or `unbounded`; None if this is no fit.
        differences: How partners differ, against the fitted law.
        attribution: Which channels each component moves with.
        colours: Names or numbers to colour samples by, such as measured behaviour.
        time: With `series`: of each sample.
        time_name: What time is called.
        series: Whether the samples are in the order of time.
        trials: With `series`: a label for each sample; time starts anew in each trial.
        images: The observations, if they are images, or the first of them: [samples, channels, height, width].
        image_pairs: Some pairs of them, [pairs, 2, channels, height, width].
        decoded: What a decoder draws along each component, [components, steps, channels, height, width].
        traversal: Pictures along each factor.
        recovered: What components do along these.
        matched: For each factor, what to say of the component that it took, by the titles of columns.
        verdict: What was found about the assumption, in words; that of `selection` if not given.
        selection: `Selection.summary()`.
        consistency: `Consistency.summary()`.
        settings: Parameters, which may be nested.
        versions: Of the software.
    """

    title: str
    codes: Array
    lead: str = ""
    summary: Sequence[tuple[str, str]] = ()
    latents: Array | None = None
    latent_names: Sequence[str] | None = None
    component_names: Sequence[str] | None = None
    ambiguity: Ambiguity = "permutation"
    widths: Sequence[float] | None = None
    used: Sequence[int] | None = None
    curve: Sequence[Mapping[str, float]] = ()
    held_out_bits: float | None = None
    fitted_bits: float | None = None
    held_out_pairs: int = 0
    judgement: Verdict | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    tried: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    space: str | None = None
    differences: Differences | None = None
    attribution: Attribution | None = None
    colours: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    time: NDArray[Any] | None = None
    time_name: str = "time"
    series: bool = False
    trials: NDArray[Any] | None = None
    images: NDArray[Any] | None = None
    image_pairs: NDArray[Any] | None = None
    decoded: NDArray[Any] | None = None
    traversal: Traversal | None = None
    recovered: Recovered | None = None
    matched: Sequence[Mapping[str, str]] = ()
    verdict: str | None = None
    selection: Mapping[str, Any] | None = None
    consistency: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or 0 in self.codes.shape:
            raise InputError(f"codes must have shape [samples, components], got {list(self.codes.shape)}")
        if not np.isfinite(self.codes).all():
            raise InputError("codes must be finite, got NaN or infinite values")
        if self.latents is not None and self.latents.ndim != 2:
            raise InputError(f"latents must have shape [samples, factors], got {list(self.latents.shape)}")
        if self.images is not None and self.images.ndim not in {3, 4}:
            raise InputError(
                f"images must have shape [samples, channels, height, width], got {list(self.images.shape)}"
            )
        if self.images is not None and not 1 <= len(self.images) <= len(self.codes):
            raise InputError(f"images must be at most as many as codes, {len(self.codes)}, got {len(self.images)}")
        if self.image_pairs is not None and (self.image_pairs.ndim != 5 or self.image_pairs.shape[1] != 2):
            raise InputError(
                f"image_pairs must have shape [pairs, 2, channels, height, width], got {list(self.image_pairs.shape)}"
            )
        if self.decoded is not None and (self.decoded.ndim != 5 or len(self.decoded) != self.codes.shape[1]):
            raise InputError(
                f"decoded must have shape [{self.codes.shape[1]}, steps, channels, height, width], "
                f"got {list(self.decoded.shape)}"
            )
        if self.traversal is not None and len(self.traversal.images) != len(self.names_of_latents):
            raise InputError(
                f"traversal must have pictures along {len(self.names_of_latents)} factors, those of latents, "
                f"got {len(self.traversal.images)}"
            )
        along = {name: getattr(self, name) for name in ("latents", "trials", "time")}
        for name, values in {**along, **{f"colours {one!r}": value for one, value in self.colours.items()}}.items():
            if values is not None and len(values) != len(self.codes):
                raise InputError(f"{name} must be as many as codes, {len(self.codes)}, got {len(values)}")
        if self.widths is not None and len(self.widths) != self.codes.shape[1]:
            raise InputError(f"widths must be {self.codes.shape[1]}, one for each component, got {len(self.widths)}")
        self._check_names("component_names", self.component_names, self.codes)
        self._check_names("latent_names", self.latent_names, self.latents)

    @property
    def names_of_components(self) -> list[str]:
        """A name for each component, by number if none was given."""
        return list(self.component_names or _numbered("component", self.codes))

    @property
    def names_of_latents(self) -> list[str]:
        """A name for each true factor, by number if none was given."""
        return list(self.latent_names or _numbered("factor", self.latents))

    @staticmethod
    def _check_names(name: str, given: Sequence[str] | None, values: Array | None) -> None:
        columns = 0 if values is None else values.shape[1]
        if given is not None and len(given) != columns:
            raise InputError(f"{name} must be {columns}, a name for each column, got {len(given)}")


def write_page(report: Report, path: Path) -> None:
    """Write the report as one HTML file of less than 3 MB that needs nothing else, be it file or network."""
    path = Path(path)
    page = _page(report, make_sections(report))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _numbered(noun: str, values: Array | None) -> list[str]:
    return [] if values is None else [f"{noun} {index + 1}" for index in range(values.shape[1])]


# Keeps browsers from fetching anything. Code is allowed to make code: so does plotly.js to draw in three dimensions.
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
_THEME = (
    'document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"'
)
_ICON = (
    '<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7" fill="none" stroke="currentColor"'
    ' stroke-width="1.6"/><path d="M8 1a7 7 0 0 1 0 14z" fill="currentColor"/></svg>'
)


def _page(report: Report, sections: Sequence[Section]) -> str:
    title = html.escape(report.title)
    lead = f'<p class="lead">{html.escape(report.lead)}</p>' if report.lead else ""
    figures = {name: states for section in sections for name, states in section.figures.items()}
    links = "".join(
        f'<li><a href="#{name}">{heading}</a></li>'
        for name, heading in [*((section.name, section.title) for section in sections), ("cite", "How to cite")]
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="identica {__version__}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{_asset("page.css")}</style>
<script>{_THEME}</script>
</head>
<body>
<header>
<div class="bar"><span class="brand"><b>identica</b> report</span>\
<button type="button" id="theme">{_ICON}<span>Dark</span></button></div>
<h1>{title}</h1>
{notice(report)}
{lead}
{_cards(report.summary)}
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main>
{"".join(map(_section, sections))}
{_citation()}
</main>
<footer>Made by identica {__version__}. All of it is in this file; it loads nothing.</footer>
<noscript><p class="lead">The charts need JavaScript.</p></noscript>
<script type="application/octet-stream" id="figures">{_packed(_as_json(figures))}</script>
<script type="application/octet-stream" id="plotly">{_plotly()}</script>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""


def _section(section: Section) -> str:
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-title"><div class="heading">'
        f'<h2 id="{section.name}-title">{section.title}</h2>{section.control}</div>{section.body}</section>\n'
    )


def _cards(summary: Sequence[tuple[str, str]]) -> str:
    if not summary:
        return ""
    return f'<dl class="cards">{"".join(_card(*entry) for entry in summary)}</dl>'


def _card(label: str, value: str) -> str:
    style = ' class="long"' if len(value) > 10 else ""
    return f"<div><dt>{html.escape(label)}</dt><dd{style}>{html.escape(value)}</dd></div>"


def _citation() -> str:
    paper = f"""@inproceedings{{zimmermann2021contrastive,
  author    = {{Zimmermann, Roland S. and Sharma, Yash and Schneider, Steffen and Bethge, Matthias and
               Brendel, Wieland}},
  title     = {{Contrastive Learning Inverts the Data Generating Process}},
  booktitle = {{Proceedings of the 38th International Conference on Machine Learning (ICML)}},
  series    = {{Proceedings of Machine Learning Research}},
  volume    = {{139}},
  pages     = {{12979--12990}},
  year      = {{2021}}
}}

@software{{identica,
  author  = {{{{The identica maintainers}}}},
  title   = {{identica: Recover the hidden factors behind data by contrastive learning}},
  version = {{{__version__}}}
}}"""
    link = "https://proceedings.mlr.press/v139/zimmermann21a.html"
    text = (
        "The method is that of Zimmermann, Sharma, Schneider, Bethge and Brendel: "
        f'<a href="{link}">Contrastive Learning Inverts the Data Generating Process</a>, ICML 2021. '
        f"These results were computed with identica {__version__}."
    )
    body = f'<p class="note">{text}</p><pre>{html.escape(paper)}</pre>'
    return _section(Section("cite", "How to cite", body))


def _as_json(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _packed(text: str) -> str:
    """Compressed, in letters: the browser unpacks it, and nothing in it can end the script that holds it."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _asset(name: str) -> str:
    return resources.files("identica.report").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    return _packed(get_plotlyjs())
