"""Bring a finished run back from the store: its source and its trained learner, to compute with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import final

from torch import Tensor

from identica import encoders, laws, learners, models, recipes, sources, spaces
from identica._checks import InputError
from identica._plain import from_plain
from identica.experiments.runner import Run, trained_learner
from identica.experiments.store import Record, RunStore
from identica.learners import Contrastive, ContrastiveLearner, Learner
from identica.sources import SyntheticPairs

__all__ = ["Restored", "known_types", "restore", "restore_learner", "run_of"]


@final
@dataclass(frozen=True)
class Restored:
    """A finished contrastive run of a synthetic source, on the CPU.

    Args:
        run: What was trained.
        source: Where its pairs came from, with the same mixing.
        learner: As it was after training, ready for evaluation.
    """

    run: Run
    source: SyntheticPairs
    learner: ContrastiveLearner

    def h(self, latents: Tensor) -> Tensor:
        """Codes of latents: the mixing, then the encoder."""
        return self.learner.codes(self.source.mixing(latents))


def known_types() -> Mapping[str, type]:
    """The dataclasses that settings of a record may hold, by name: all public ones of these packages."""
    packages = (encoders, laws, learners, models, recipes, sources, spaces)
    found = [getattr(package, name) for package in packages for name in package.__all__]
    return {one.__name__: one for one in found if isinstance(one, type) and is_dataclass(one)}


def restore(store: RunStore, name: str) -> Restored:
    """Bring back the contrastive run of that name.

    Args:
        store: Where it was trained; copies made by `export` have no weights.
        name: Of a finished run, as `store.names()` lists them.
    """
    run = _finished(store, name)
    source = run.source.build(run.seed)
    if not isinstance(run.learner, Contrastive) or not isinstance(source, SyntheticPairs):
        raise InputError(f"record must be of a contrastive run of a synthetic source, got {run.learner.kind!r}")
    learner = trained_learner(run, source, store)
    assert isinstance(learner, ContrastiveLearner)
    return Restored(run, source, learner)


def restore_learner(store: RunStore, name: str) -> tuple[Run, Learner]:
    """Bring back what was trained in the run of that name, whatever its source and learner; the data must be there."""
    run = _finished(store, name)
    return run, trained_learner(run, run.learnt_source.build(run.seed), store)


def _finished(store: RunStore, name: str) -> Run:
    record = store.load(name)
    if record is None:
        raise InputError(f"name must be that of a finished run of the store, got {name!r}")
    return run_of(record)


def run_of(record: Record) -> Run:
    """The run that gave a record."""
    settings = record["settings"]
    parts = {name: from_plain(settings[name], known_types()) for name in ("source", "learner", "recipe")}
    return Run(**parts, seed=settings["seed"], scores=tuple(record["scores"]))
