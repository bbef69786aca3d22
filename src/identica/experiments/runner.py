"""Turn a run (source, learner, recipe, seed) into a stored record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from torch import Tensor

from identica._launched import Ranks, launched
from identica._machine import describe_machine, peak_memory_mb, versions
from identica._plain import digest, to_plain
from identica._random import random_stream
from identica._ranks import wait_for_all
from identica._traversing import decoded_traversals
from identica._words import percent
from identica.assembly import Fit, assemble, fit
from identica.experiments.evaluation import (
    PREFIXES,
    Evaluation,
    PairBits,
    as_numpy,
    evaluations,
    example_pairs,
    identity,
    summaries,
)
from identica.experiments.store import RECORD_FORMAT, Record, RunStore
from identica.fitting import fit_from_wide_codes
from identica.learners import Contrastive, ContrastiveLearner, Learner, LearnerSettings, VAELearner
from identica.metrics import DEFAULT_SCORES, compute_scores, quick_scores
from identica.recipes import Recipe
from identica.sources import LabelledSource, Part, Source, SourceSettings
from identica.training import Report, make_trackers, resolve_device

__all__ = ["Run", "execute", "trained_learner"]

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
    def learnt_source(self) -> SourceSettings:
        """What decides the result of the source: with labels, what concerns pairs alone decides nothing."""
        return self.source.unpaired() if self.learner.kind == "supervised" else self.source

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the result, as plain data."""
        return {
            "format": RECORD_FORMAT,
            "source": to_plain(self.learnt_source),
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
        return digest([self.source.unpaired(), self.source.baseline_space(self.learner.code_space)])

    @property
    def label(self) -> str:
        """What a progress bar calls the run."""
        return f"{self.title} seed {self.seed}"

    @property
    def of_wide_codes(self) -> Run | None:
        """The run of the wide codes that this one learns from, if it does; runs that differ later share it."""
        if self.recipe.wide is None or not isinstance(self.learner, Contrastive):
            return None
        learner, recipe = self.learner.of_wide_codes(self.recipe.wide), self.recipe.of_wide_codes()
        return replace(self, learner=learner, recipe=recipe, title=f"{self.title} wide codes")

    def shared_with(self, other: Run) -> Run:
        """The same run for two rows, with the scores of both."""
        titles = f"{self.title}, {other.title}" if other.title not in self.title.split(", ") else self.title
        return replace(self, title=titles, scores=tuple(dict.fromkeys(self.scores + other.scores)))


def execute(
    run: Run,
    store: RunStore,
    *,
    device: str = "auto",
    report: Report | None = None,
    trackers: Sequence[str] = (),
    wait: bool = False,
) -> Record:
    """Return the stored record of a run, training it first (or going on with it) if there is none.

    If torchrun or SLURM started several processes, all of them must be given the same runs in the same order: they
    share each batch, and the first one writes. Trackers keep curves in the folder `tracking` of the store. If another
    process computes the run already, `wait` for it instead of giving up.
    """
    stored, ranks = store.load(run.name), launched()
    if stored is not None and not _missing(run, stored):
        return stored
    trained: Record | None = None
    with store.writing(run.name, wait=wait) if ranks.is_first else nullcontext():
        if ranks.size == 1:
            stored = store.load(run.name)  # another process may have finished it meanwhile
        if stored is None:
            trained = _train(run, store, ranks, device, report, trackers)
        elif ranks.is_first and _missing(run, stored):
            _add_scores(run, store, stored)
    wait_for_all(ranks)
    record = trained or store.load(run.name)
    assert record is not None
    return record


def _train(
    run: Run, store: RunStore, ranks: Ranks, device: str, report: Report | None, trackers: Sequence[str]
) -> Record | None:
    """Train a run and store all that it gave; of several processes the first has the record."""
    wide = run.of_wide_codes
    before = None if wide is None else execute(wide, store, device=device, report=report, trackers=trackers, wait=True)
    started = time.monotonic()
    device = resolve_device(device)
    source = run.learnt_source.build(run.seed, device)
    scored = evaluations(source, run.seed, device)
    factors, observations = scored["test"].factors, scored["test"].observations
    kinds, quick = [factor.kind for factor in source.factors], quick_scores(run.scores)
    bits = PairBits(source, run.learner, run.seed, device)
    prepared = time.monotonic() - started

    def evaluate(learner: Learner) -> Mapping[str, float]:
        found = compute_scores(quick, factors[: len(observations)], scored["test"].first_codes(learner), kinds)
        return {name: percent(score.value) for name, score in found.items()} | bits.of(learner)

    recipe = run.recipe if run.recipe.wide is None else run.recipe.wide.recipe
    watched: dict[str, Any] = {
        "device": device,
        "evaluate": evaluate,
        "evaluate_every": max(1, recipe.training.steps // _CURVE_POINTS),
        "checkpoint": store.checkpoint(run.name),
        "report": report,
        "spread": True,
        "loggers": make_trackers(trackers, store.tracking, run.name) if ranks.is_first else (),
    }
    if wide is None or before is None:
        fitted = fit(run.learner, run.recipe, source, run.seed, **watched)
    else:
        prepared += before["seconds"]
        learner = trained_learner(wide, source, store).to(device)
        assert isinstance(run.learner, Contrastive)
        assert isinstance(learner, ContrastiveLearner)
        fitted = fit_from_wide_codes(run.learner, run.recipe, source, run.seed, learner, **watched)
    if not ranks.is_first:
        return None
    used = {"seconds": prepared + fitted.seconds, "processes": ranks.size, "device": device}
    return _store(run, store, source, fitted, scored, used)


def trained_learner(run: Run, source: Source, store: RunStore) -> Learner:
    """The learner of a finished run, on the CPU and ready for evaluation."""
    learner = assemble(run.learner, run.recipe, source, run.seed)
    learner.load_state_dict(store.weights(run.name))
    return learner.eval()


def _store(
    run: Run, store: RunStore, source: LabelledSource, fitted: Fit, scored: Mapping[Part, Evaluation], used: Record
) -> Record:
    """Score what was trained, and write it."""
    factors, observations = scored["test"].factors, scored["test"].observations
    kinds = [factor.kind for factor in source.factors]
    codes = {part: one.codes(fitted.learner) for part, one in scored.items()}
    record = _describe(run, source) | {
        **{
            f"{PREFIXES[part]}scores": summaries(run.scores, scored[part].factors, codes[part], kinds) for part in codes
        },
        "identity": identity(run.scores, factors[: len(observations)], observations, kinds),
        "fitted": fitted.fitted,
        "curve": fitted.curve,
    }
    processes = {"processes": used["processes"]} if used["processes"] > 1 else {}
    cost = {
        "seconds": round(used["seconds"], 2),
        "peak_memory_mb": peak_memory_mb(),
        "machine": describe_machine() | {"device": used["device"]} | processes,
    }
    arrays = {"observations": scored["test"].kept}
    arrays |= {f"{PREFIXES[part]}factors": one.factors for part, one in scored.items()}
    arrays |= {f"{PREFIXES[part]}codes": values for part, values in codes.items()}
    if isinstance(fitted.learner, VAELearner):
        arrays["decoded"] = _drawn(fitted.learner, codes["test"], used["device"])
    if run.learner.kind == "unsupervised":
        arrays |= example_pairs(source, random_stream(run.seed, "examples", used["device"]))
    store.save(run.name, record, cost, fitted.learner, {name: as_numpy(value) for name, value in arrays.items()})
    return record | cost


def _drawn(learner: VAELearner, codes: Tensor, device: str) -> Tensor:
    """What the decoder draws along each code."""
    return torch.from_numpy(decoded_traversals(lambda moved: learner.decode(moved.to(device)), as_numpy(codes)))


def _describe(run: Run, source: LabelledSource) -> Record:
    """All of a record that is known before training; the kinds of factors if any is not a continuous number."""
    kinds = [factor.kind for factor in source.factors]
    named = {"kinds": kinds} if set(kinds) != {"continuous"} else {}
    return named | {
        "kind": run.learner.kind,
        "source": str(run.learnt_source),
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


def _missing(run: Run, record: Record) -> list[str]:
    """Scores that this run asks for and its record lacks."""
    return [name for name in run.scores if name not in record["scores"]]


def _add_scores(run: Run, store: RunStore, record: Record) -> None:
    """Compute the scores that a record lacks from the stored codes."""
    missing, arrays = _missing(run, record), store.arrays(run.name)
    kinds = record.get("kinds", ["continuous"] * len(record["factors"]))
    added: dict[str, Any] = {
        f"{part}scores": summaries(missing, arrays[f"{part}factors"], arrays[f"{part}codes"], kinds)
        for part in PREFIXES.values()
        if f"{part}codes" in arrays
    }
    if len(arrays["observations"]) == len(arrays["codes"]):
        observations = torch.from_numpy(arrays["observations"])
        added["identity"] = identity(missing, arrays["factors"], observations, kinds)
    store.add_scores(run.name, added)
