"""Where reports come from: a stored run, or an estimator that was fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from identica._machine import versions
from identica._words import with_article
from identica.experiments import Recovered, Traversal
from identica.experiments.paper import rows_of_record
from identica.experiments.store import Record
from identica.metrics import linear_r2, mcc, symbol
from identica.report._fitted import Fitted
from identica.report.page import Report
from identica.spaces import NAMED_SPACES
from identica.verdicts import Verdict, judge

__all__ = ["report_of_fit", "report_of_run"]


def report_of_run(
    record: Record,
    arrays: Mapping[str, NDArray[Any]],
    *,
    title: str | None = None,
    along: tuple[Traversal, Recovered] | None = None,
) -> Report:
    """The report of a run of a store: `report_of_run(store.load(name), store.arrays(name))`.

    Args:
        record: What `RunStore.load` or `execute` gives.
        arrays: `factors` and `codes`, and for pictures `observations`, `pairs` and `decoded`, as `RunStore.arrays`
            gives them.
        title: The heading; the row and its process if not given.
        along: What `traverse_run` gives, to show pictures along each factor.
    """
    names = [row.id for row in rows_of_record(record)]
    images = arrays.get("observations")
    shown = images is not None and images.ndim == 4
    traversal, recovered = along or (None, None)
    return Report(
        title=title or f"{', '.join(names) or record['learner']}: {record['source']}",
        lead=record["description"],
        codes=arrays["codes"],
        latents=arrays["factors"],
        latent_names=record["factors"],
        summary=_scores_of_run(record),
        ambiguity=record["identified_up_to"],
        curve=record["curve"],
        images=images if shown else None,
        image_pairs=arrays.get("pairs"),
        decoded=arrays.get("decoded"),
        traversal=traversal,
        recovered=recovered,
        matched=_matched(record, arrays["codes"].shape[1]),
        settings=record["settings"] | _known(record, "steps", "machine"),
        versions=record["versions"],
    )


def report_of_fit(
    estimator: Any,
    X: Any,
    latents: Any = None,
    trials: Any = None,
    selection: Any = None,
    consistency: Any = None,
    seconds: float | None = None,
    *,
    time: Any = None,
    colours: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    series: bool | None = None,
    title: str = "Components of the data",
    component_names: Sequence[str] | None = None,
    **partners: Any,
) -> Report:
    """The report of a fit.

    Args:
        estimator: A fitted `ContrastiveICA`, or a pipeline that ends in one.
        X: Observations to show the codes of, vectors or images [samples, channels, height, width].
        latents: True factors of these observations, if known; a data frame gives their names.
        trials: A label for each observation, if they are trials of a time series; no window goes across two of them.
        selection: What `identica.select` found.
        consistency: What `identica.consistency` found.
        seconds: What the fit took.
        time: Of each observation, in seconds, if they are a time series.
        colours: Names or numbers of the observations to colour them by, such as `{"position": position}`.
        facts: What else to say of the data, such as `{"file": "recording.csv"}`.
        series: Whether observations are in the order of time; by default if they have trials or a lag.
        title: The heading.
        component_names: A name for each component.
        **partners: `X_pos`, `pairs` or `labels`, as `fit` had them, to see how partners differ; nothing with a lag.
    """
    fitted = Fitted(estimator, X, trials, partners)
    made = Report(
        title=title,
        codes=fitted.codes,
        component_names=component_names,
        **_from_fit(fitted.model, _summary(consistency), seconds),
        **fitted.measured(),
        facts=dict(facts or {}) | fitted.facts(time),
        series=_is_series(fitted.model, fitted.trials) if series is None else series,
        trials=fitted.trials,
        time=None if time is None else np.asarray(time, dtype=np.float64).ravel(),
        time_name="time, in seconds",
        colours={name: np.asarray(values) for name, values in (colours or {}).items()},
        images=np.asarray(X) if np.ndim(X) == 4 else None,
        selection=_summary(selection),
    )
    return _with_latents(made, latents)


def _from_fit(model: Any, refits: Mapping[str, Any] | None, seconds: float | None) -> dict[str, Any]:
    """What a fitted estimator knows of itself, and what refits say of it."""
    return {
        "lead": _promise(model),
        "summary": _summary_of_fit(model, seconds),
        "judgement": _judgement(model, refits),
        "consistency": refits,
        "settings": _parameters(model),
        "versions": versions(),
        "ambiguity": getattr(model, "ambiguity_", "permutation"),
        "widths": getattr(model, "widths_", None),
        "used": getattr(model, "components_used_", None),
        "curve": getattr(model, "loss_curve_", ()),
        "held_out_bits": getattr(model, "validation_score_", None),
        "fitted_bits": getattr(model, "fitted_bits_", None),
        "held_out_pairs": getattr(model, "n_held_out_pairs_", 0),
        "chosen": getattr(model, "chosen_", {}),
        "tried": getattr(model, "search_", ()),
        "space": getattr(model, "space", None),
    }


def _judgement(model: Any, consistency: Mapping[str, Any] | None) -> Verdict | None:
    """The verdict on a fit, with the agreement of refits where these were compared."""
    if not hasattr(model, "validation_score_"):
        return None
    known = getattr(model, "agreement_", None)
    agreement = known if consistency is None else consistency["agreement"] / 100
    return judge(model.validation_score_, getattr(model, "validation_error_", 0.0), model.fitted_bits_, agreement)


def _is_series(model: Any, trials: Any) -> bool:
    return trials is not None or getattr(model, "lag", None) is not None


def _with_latents(report: Report, latents: Any) -> Report:
    if latents is None:
        return report
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
    """Headline numbers: the score that the theory is about first, with what to compare it to."""
    known = rows_of_record(record)
    wanted = known[0].score if known else "mcc" if record["identified_up_to"] == "permutation" else "r2"
    names = sorted(record["scores"], key=lambda name: name != wanted)
    cards = []
    for name in names:
        cards.append((symbol(name), f"{record['scores'][name]['value']:.2f} %"))
        if name in record.get("held_out_scores", {}):
            cards.append((f"{symbol(name)}, held out", f"{record['held_out_scores'][name]['value']:.2f} %"))
        published = [row.reference("unsupervised", name) for row in known]
        cards += [(f"{symbol(name)} in the paper", f"{one.mean:.2f} %") for one in published[:1] if one is not None]
    if names[0] in record["identity"]:
        cards.append((f"{symbol(names[0])} of the observations", f"{record['identity'][names[0]]:.2f} %"))
    cards.append((f"{symbol(names[0])} by chance", f"{record['scores'][names[0]]['chance']:.2f} %"))
    return cards + _duration(record.get("seconds"))


def _matched(record: Record, codes: int) -> list[dict[str, str]]:
    """A line for each factor where codes are spare, by the first score that matches factors with codes."""
    known = rows_of_record(record)
    names = sorted(record["scores"], key=lambda name: bool(known) and name != known[0].score)
    name = next((one for one in names if "assignment" in record["scores"][one]), None)
    if name is None or codes <= len(record["factors"]):
        return []
    found, unseen = record["scores"][name], record.get("held_out_scores", {}).get(name)
    lines = []
    for place, factor in enumerate(record["factors"]):
        taken = found["assignment"][place]
        line = {"factor": factor, "component": str(taken + 1) if taken >= 0 else "–"}
        line[f"{symbol(name)}, %"] = f"{found['per_factor'][place]:.2f}"
        if unseen is not None:
            line["held out, %"] = f"{unseen['per_factor'][place]:.2f}"
        lines.append(line)
    return lines


def _known(record: Record, *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}


def _promise(model: Any) -> str:
    """What the theory says of the components."""
    judgement = _judgement(model, None)
    if not hasattr(model, "ambiguity_") or (judgement and judgement.finding == "these pairs tell nothing"):
        return ""
    return (
        f"Components of the data, identified up to {with_article(model.ambiguity_)} if the assumption holds: factors in"
        f" {NAMED_SPACES[model.space].place}, and partners that differ by {model.conditional_} in units of the codes."
    )


def _summary_of_fit(model: Any, seconds: float | None) -> list[tuple[str, str]]:
    bits = getattr(model, "validation_score_", None)
    fitted = getattr(model, "fitted_bits_", None)
    cards = [] if bits is None else [("bits a pair, held out", f"{bits:z.2f}")]
    cards += [] if fitted is None else [("bits a pair, fitted", f"{fitted:z.2f}")]
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
