"""Turn a run (source, learner, recipe, seed) into a stored record."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, final

import torch

from identica._machine import describe_machine, peak_memory_mb, versions
from identica._plain import digest, to_plain
from identica._random import random_stream
from identica.assembly import fit
from identica.experiments._evaluation import Evaluation, as_numpy, example_pairs, identity, summaries
from identica.experiments.store import RECORD_FORMAT, Record, RunStore
from identica.learners import LearnerSettings
from identica.metrics import DEFAULT_SCORES, quick_scores
from identica.recipes import Recipe
from identica.sources import LabelledSource, SourceSettings
from identica.training import Report, resolve_device

__all__ = ["Run", "execute"]

_CURVE_POINTS = 20


@final
@dataclass(frozen=True)
class Run:
    """One training run.

    Args:
        source: Where pairs come from.
        learner: What is trained.
        recipe: How.
        seed: Of the source, the weights and the data.
        title: What a progress bar calls it; decides nothing.
        scores: What it is scored by; decides nothing about the training.
    """

    source: SourceSettings
    learner: LearnerSettings
    recipe: Recipe
    seed: int
    title: str = "own"
    scores: tuple[str, ...] = DEFAULT_SCORES

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the result, as plain data. With labels, what concerns pairs alone decides nothing."""
        source = self.source.unpaired() if self.learner.kind == "supervised" else self.source
        return {
            "format": RECORD_FORMAT,
            "source": to_plain(source),
            "learner": to_plain(self.learner),
            "recipe": to_plain(self.recipe),
            "seed": self.seed,
        }

    @property
    def name(self) -> str:
        """A readable name with a hash of the settings."""
        settings = self.settings
        unnamed = {key: value for key, value in settings["recipe"].items() if key != "name"}
        kind = type(self.learner).__name__.lower()
        return f"{kind}-{self.recipe.name}-s{self.seed}-{digest(settings | {'recipe': unnamed})}"

    @property
    def baseline(self) -> str:
        """What a run shares with the supervised run that it is compared with."""
        return digest([self.source.unpaired(), self.learner.code_space])

    @property
    def label(self) -> str:
        """What a progress bar calls the run."""
        return f"{self.title} seed {self.seed}"

    def shared_with(self, other: Run) -> Run:
        """The same run for two rows, with the scores of both."""
        titles = f"{self.title}, {other.title}" if other.title not in self.title.split(", ") else self.title
        return replace(self, title=titles, scores=tuple(dict.fromkeys(self.scores + other.scores)))


def execute(run: Run, store: RunStore, *, device: str = "auto", report: Report | None = None) -> Record:
    """Return the stored record of a run, training it first (or going on with it) if there is none."""
    stored = store.load(run.name)
    if stored is not None:
        return _with_all_scores(run, store, stored)
    started = time.monotonic()
    device = resolve_device(device)
    source = run.source.build(run.seed, device)
    whole, unseen = _evaluations(source, run.seed, device)
    quick = quick_scores(run.scores)
    prepared = time.monotonic() - started
    fitted = fit(
        run.learner,
        run.recipe,
        source,
        run.seed,
        device=device,
        evaluate=lambda learner: whole.values(quick, learner),
        evaluate_every=max(1, run.recipe.training.steps // _CURVE_POINTS),
        checkpoint=store.checkpoint(run.name),
        report=report,
    )
    codes = whole.codes(fitted.learner)
    arrays = {"factors": whole.factors, "codes": codes, "observations": whole.kept}
    if run.learner.kind == "unsupervised":
        arrays |= example_pairs(source, random_stream(run.seed, "examples", device))
    record = _describe(run, source) | {
        "scores": summaries(run.scores, whole.factors, codes, whole.kinds),
        "identity": identity(run.scores, whole.factors, whole.observations, whole.kinds),
        "fitted": fitted.fitted,
        "curve": fitted.curve,
    }
    if unseen is not None:
        arrays |= {"held_out_factors": unseen.factors, "held_out_codes": unseen.codes(fitted.learner)}
        record["held_out"] = summaries(run.scores, unseen.factors, arrays["held_out_codes"], unseen.kinds)
    cost = {
        "seconds": round(prepared + fitted.seconds, 2),
        "peak_memory_mb": peak_memory_mb(),
        "machine": describe_machine() | {"device": device},
    }
    store.save(run.name, record, cost, fitted.learner, {name: as_numpy(value) for name, value in arrays.items()})
    return record | cost


def _evaluations(source: LabelledSource, seed: int, device: str) -> tuple[Evaluation, Evaluation | None]:
    """What the scores are of: everything, and what is held out from training if anything is."""
    held_out = source.held_out()
    unseen = None if held_out is None else Evaluation.drawn(held_out, random_stream(seed, "held-out sample", device))
    return Evaluation.drawn(source.whole(), random_stream(seed, "evaluation", device)), unseen


def _describe(run: Run, source: LabelledSource) -> Record:
    """All of a record that is known before training; the kinds of factors if any is not a continuous number."""
    kinds = [factor.kind for factor in source.factors]
    named = {"kinds": kinds} if set(kinds) != {"continuous"} else {}
    return named | {
        "kind": run.learner.kind,
        "source": str(run.source.unpaired() if run.learner.kind == "supervised" else run.source),
        "learner": str(run.learner),
        "description": f"{run.source.describe()} {run.learner.describe()}",
        "identified_up_to": run.learner.ambiguity,
        "factors": [factor.name for factor in source.factors],
        "baseline": run.baseline,
        "protocol": run.recipe.name,
        "steps": run.recipe.training.steps,
        "seed": run.seed,
        "settings": run.settings,
        "versions": versions(),
    }


def _with_all_scores(run: Run, store: RunStore, record: Record) -> Record:
    """The record with the scores that this run asks for; those that it lacks come from the stored codes."""
    missing = [name for name in run.scores if name not in record["scores"]]
    if not missing:
        return record
    arrays = store.arrays(run.name)
    kinds = record.get("kinds", ["continuous"] * len(record["factors"]))
    added: dict[str, Any] = {"scores": summaries(missing, arrays["factors"], arrays["codes"], kinds)}
    if len(arrays["observations"]) == len(arrays["codes"]):
        added["identity"] = identity(missing, arrays["factors"], torch.from_numpy(arrays["observations"]), kinds)
    if "held_out" in record:
        added["held_out"] = summaries(missing, arrays["held_out_factors"], arrays["held_out_codes"], kinds)
    store.add_scores(run.name, added)
    completed = store.load(run.name)
    assert completed is not None
    return completed
