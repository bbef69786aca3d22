"""Where reports come from: a stored run, or an estimator that was fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from identica._machine import versions
from identica.experiments.paper import ROWS
from identica.experiments.store import Record
from identica.metrics import linear_r2, mcc
from identica.models import Ambiguity, Model
from identica.report.page import Report

__all__ = ["report_of_fit", "report_of_run"]


def report_of_run(record: Record, arrays: Mapping[str, NDArray[Any]], *, title: str | None = None) -> Report:
    """The report of a run of a store: `report_of_run(store.load(name), store.codes(name))`.

    Args:
        record: What `RunStore.load` or `execute` gives.
        arrays: `latents` and `codes`, as `RunStore.codes` gives them.
        title: The heading; the row and its process if not given.
    """
    settings = record["settings"]
    process = ", ".join(settings[key] for key in ("space", "marginal", "conditional") if key in settings)
    supervised = record["kind"] == "supervised"
    return Report(
        title=title or f"{record['row']}: {process}",
        lead=_lead(settings, supervised),
        codes=arrays["codes"],
        latents=arrays["latents"],
        summary=_scores_of_run(record),
        ambiguity="permutation" if supervised else _ambiguity(settings),
        curve=record["curve"],
        settings=settings | _known(record, "steps", "machine"),
        versions=record["versions"],
    )


def report_of_fit(
    estimator: Any,
    X: Any,
    latents: Any = None,
    trials: Any = None,
    selection: Any = None,
    consistency: Any = None,
    bits: float | None = None,
    seconds: float | None = None,
    *,
    series: bool | None = None,
    title: str = "Recovered factors",
    component_names: Sequence[str] | None = None,
) -> Report:
    """The report of a fitted `ContrastiveICA`, or of a pipeline that ends in one.

    Args:
        estimator: Anything fitted.
        X: Observations to show the codes of: [samples, features], or images [samples, channels, height, width].
        latents: True factors of these observations, where they are known; a data frame gives their names.
        trials: A label for each observation, if they are trials of a time series.
        selection: What `identica.select` found, or its `summary()`.
        consistency: What `identica.consistency` found, or its `summary()`.
        bits: `score` on pairs that were held out.
        seconds: What the fit took.
        series: Whether observations are in the order of time; if not given, so if they have trials or a lag.
        title: The heading.
        component_names: A name for each component.
    """
    model = estimator[-1] if hasattr(estimator, "named_steps") else estimator
    observations = np.asarray(X)
    made = Report(
        title=title,
        lead=_promise(model),
        codes=np.asarray(estimator.transform(X)),
        summary=_summary_of_fit(model, bits, seconds),
        component_names=component_names,
        ambiguity=getattr(model, "ambiguity_", "permutation"),
        curve=getattr(model, "loss_curve_", ()),
        series=trials is not None or getattr(model, "lag", None) is not None if series is None else series,
        trials=None if trials is None else np.asarray(trials),
        images=observations if observations.ndim == 4 else None,
        selection=_summary(selection),
        consistency=_summary(consistency),
        settings=_parameters(model),
        versions=versions(),
    )
    return made if latents is None else _with_latents(made, latents)


def _with_latents(report: Report, latents: Any) -> Report:
    truth = np.asarray(latents, dtype=np.float64)
    truth = truth[:, None] if truth.ndim == 1 else truth
    names = [str(name) for name in latents.columns] if hasattr(latents, "columns") else None
    matched, linear = mcc(truth, report.codes), linear_r2(truth, report.codes)
    scores = [
        ("MCC", f"{100 * matched.value:.2f} %"),
        ("R²", f"{100 * linear.value:.2f} %"),
        ("MCC by chance", f"{100 * matched.chance:.2f} %"),
    ]
    ordered = scores if report.ambiguity == "permutation" else [scores[1], scores[0], scores[2]]
    return replace(report, latents=truth, latent_names=names, summary=[*ordered, *report.summary])


def _scores_of_run(record: Record) -> list[tuple[str, str]]:
    row = ROWS.get(record["row"])
    first = "mcc" if row is None else row.metric
    cards = []
    for key in (first, "r2" if first == "mcc" else "mcc"):
        cards.append((_SYMBOLS[key], f"{record[key]:.2f} %"))
        if row is not None and row.unsupervised is not None and key == first:
            cards.append((f"{_SYMBOLS[key]} in the paper", f"{row.unsupervised.mean:.2f} %"))
    cards += [
        (f"{_SYMBOLS[first]} of the mixtures", f"{record[f'identity_{first}']:.2f} %"),
        (f"{_SYMBOLS[first]} by chance", f"{record[f'{first}_chance']:.2f} %"),
    ]
    return cards + _duration(record.get("seconds"))


def _lead(settings: Mapping[str, Any], supervised: bool) -> str:
    """The experiment in words."""
    hidden = f"{settings['dim']} factors ({settings['space']}, {settings['marginal']}) were mixed by a random network"
    if supervised:
        return f"{hidden}; the encoder learnt them from labels, as an upper bound."
    return (
        f"{hidden}. The encoder saw pairs of mixtures alone, whose factors differ by {settings['conditional']}, and"
        f" assumed: {settings['model_space']}, {settings['model_conditional']}."
    )


def _ambiguity(settings: Mapping[str, Any]) -> Ambiguity:
    return Model(settings["model_space"], settings["model_conditional"]).ambiguity


def _known(record: Record, *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def _promise(model: Any) -> str:
    """What the theory says of the components."""
    if not hasattr(model, "ambiguity_"):
        return ""
    article = "an" if model.ambiguity_.startswith("a") else "a"
    return (
        f"Components of the data, identified up to {article} {model.ambiguity_} if the assumption holds: factors in"
        f" {_PLACES[model.space]}, and partners that differ by {model.conditional_} in units of the codes."
    )


def _summary_of_fit(model: Any, bits: float | None, seconds: float | None) -> list[tuple[str, str]]:
    cards = [] if bits is None else [("bits a pair, held out", f"{bits:.2f}")]
    if hasattr(model, "n_components_"):
        cards.append(("components", str(model.n_components_)))
    return cards + _duration(seconds)


def _duration(seconds: float | None) -> list[tuple[str, str]]:
    return [] if seconds is None else [("training", f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s")]


def _summary(found: Any) -> Mapping[str, Any] | None:
    return found.summary() if hasattr(found, "summary") else found


def _parameters(model: Any) -> dict[str, Any]:
    """Settings, and the number of steps they led to."""
    given = model.get_params(deep=False) | {"steps": getattr(model, "n_steps_", None)}
    return {name: type(value).__name__ if isinstance(value, nn.Module) else value for name, value in given.items()}


_SYMBOLS = {"r2": "R²", "mcc": "MCC"}
_PLACES = {"sphere": "a sphere", "box": "a box", "unbounded": "unbounded space"}
