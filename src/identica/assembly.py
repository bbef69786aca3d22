"""Build, train, calibrate: the one way from a source and settings to a trained learner."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import nn

from identica._checks import InputError
from identica._machine import usable_threads
from identica._random import random_stream
from identica._slow_start import begin_slowly
from identica.learners import AlignUniformLearner, Contrastive, ContrastiveLearner, Learner, LearnerSettings
from identica.recipes import Recipe, TrainingSettings
from identica.sources import Source
from identica.training import Curve, Schedule, Trained, make_optimizers, train

__all__ = ["Fit", "assemble", "fit", "surroundings"]

_WHITENING_SAMPLES = 16_384


@final
@dataclass(frozen=True)
class Fit:
    """A trained learner.

    Args:
        learner: In evaluation mode, on the device it was trained on.
        curve: Step, loss and scores at the steps that were evaluated.
        seconds: Spent on all of it, over all sessions.
        fitted: What calibration found, as plain data.
    """

    learner: Learner
    curve: Curve
    seconds: float
    fitted: dict[str, Any]


def assemble(
    settings: LearnerSettings,
    recipe: Recipe,
    source: Source,
    seed: int,
    device: str = "cpu",
    network: nn.Module | None = None,
) -> Learner:
    """The learner before training; `network` is one of the caller's own, for a contrastive learner."""
    sample = source.bounded_sample(_WHITENING_SAMPLES, random_stream(seed, "whitening", device)).cpu()
    weights = random_stream(seed, "weights")
    if network is None:
        learner = settings.build(recipe, sample, weights).to(device)
        if recipe.encoder.slow_start > 0 and recipe.wide is None:
            assert isinstance(learner, ContrastiveLearner | AlignUniformLearner)
            generator = random_stream(seed, "slow start", device)
            begin_slowly(learner.encoder, source, recipe.encoder.slow_start, generator)
        return learner
    assert isinstance(settings, Contrastive)
    return settings.build(recipe, sample, weights, network).to(device)


def fit(
    settings: LearnerSettings,
    recipe: Recipe,
    source: Source,
    seed: int,
    *,
    device: str = "cpu",
    network: nn.Module | None = None,
    max_seconds: float | None = None,
    prepare: Callable[[Learner], None] | None = None,
    calibrate: Callable[[Learner], dict[str, Any]] | None = None,
    **watched: Any,
) -> Fit:
    """Build the learner, train it on the source by the recipe, and calibrate it.

    Args:
        settings: What is trained.
        recipe: How.
        source: Where batches come from.
        seed: Of the weights, the batches and all other choices.
        device: Where to train, as `resolve_device` names it.
        network: A network of the caller's own, for a contrastive learner.
        max_seconds: Time for training, if the recipe's steps may be cut short.
        prepare: What to do with the learner before it is trained.
        calibrate: What to do with the trained learner instead of calibrating it on the source.
        **watched: What `train` takes to evaluate, report and save checkpoints.
    """
    if recipe.wide is not None:
        raise InputError(
            f"recipe must have no wide codes, got {recipe.wide.count}: fit them with recipe.of_wide_codes(), then call "
            "fit_from_wide_codes"
        )
    training, started = recipe.training, time.monotonic()
    with surroundings(seed, training.threads):
        learner = assemble(settings, recipe, source, seed, device, network)
        if prepare is not None:
            prepare(learner)
        assembled = time.monotonic() - started
        trained = _trained(learner, training, source, seed, device, max_seconds, watched)
        started = time.monotonic()
        learner.eval()
        fitted = learner.calibrate(source, seed) if calibrate is None else calibrate(learner)
        return Fit(learner, trained.curve, assembled + trained.seconds + time.monotonic() - started, fitted)


def _trained(
    learner: Learner,
    training: TrainingSettings,
    source: Source,
    seed: int,
    device: str,
    max_seconds: float | None,
    watched: dict[str, Any],
) -> Trained:
    with learner.reading(source) as batches:
        return train(
            learner,
            batches,
            make_optimizers(learner, training),
            Schedule(training.steps, training.warmup, training.cosine, max_seconds),
            batch_size=training.batch_size,
            generator=random_stream(seed, "batches", device),
            device=device,
            **watched,
        )


@contextmanager
def surroundings(seed: int, threads: int) -> Iterator[None]:
    """Leave the caller's random state and threads as they were."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)  # for modules of the user's own that draw, such as dropout
        try:
            torch.set_num_threads(threads or usable_threads())
            yield
        finally:
            torch.set_num_threads(before)
