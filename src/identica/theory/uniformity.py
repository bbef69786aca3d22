"""Appendix A.5: the half of InfoNCE that spreads codes out keeps h a bijection; the other half by itself does not."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica.encoders import Encoder, make_encoder
from identica.laws import Conditional, Marginal, Uniform, VonMisesFisher
from identica.learners import Learner
from identica.metrics import linear_r2
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import contrastive_recipe
from identica.similarities import DotProduct
from identica.sources import Layers, Source, SyntheticPairs
from identica.spaces import Sphere
from identica.theory.volume import Volume, measure_volume
from identica.training import Schedule, make_optimizers, train

__all__ = ["TrainedHalves", "train_with_parts_of_loss"]

# The half of InfoNCE that draws partners together, or the one that drives strangers apart.
_Half = Literal["alignment", "uniformity"]

_SPACE = Sphere(5)
_CONDITIONAL = VonMisesFisher(5.0)
_SAMPLES = 2048
_LEARNING_RATE = 0.02
# Part of the steps that a trained encoder goes on for with one half of its loss.
_GOES_ON_FOR = 1 / 3


@final
@dataclass(frozen=True)
class TrainedHalves:
    """What an h kept of the latents that was trained with a half of InfoNCE, or with both.

    Args:
        loss: What it was trained with, in words.
        volume: Its volume ratio over the sphere.
        r2: How much of the latents a linear map of the codes explains.
    """

    loss: str
    volume: Volume
    r2: float

    def summary(self) -> dict[str, Any]:
        """As plain data; R² in percent."""
        return {"loss": self.loss, "R²": round(100 * self.r2, 2), **self.volume.summary()}


def train_with_parts_of_loss(*, steps: int = 1500, seed: int = 0) -> list[TrainedHalves]:
    """Train an encoder, then let it go on with each half of the loss alone; and one with uniformity from the start.

    Points on a sphere in five dimensions are mixed, and their pairs follow a von Mises–Fisher law.

    Args:
        steps: Number of updates with the whole loss; a third of it with a half.
        seed: Of the mixing, the weights and the pairs.
    """
    _checks.at_least_one("steps", steps)
    _checks.seed("seed", seed)
    experiment = _Experiment(seed)
    trained = experiment.train(experiment.encoder(), ("alignment", "uniformity"), steps)
    further = max(1, round(steps * _GOES_ON_FOR))
    without_alignment = experiment.train(copy.deepcopy(trained), ("uniformity",), further)
    without_uniformity = experiment.train(copy.deepcopy(trained), ("alignment",), further)
    from_the_start = experiment.train(experiment.encoder(), ("uniformity",), steps)
    return [
        experiment.look_at("both halves", trained),
        experiment.look_at("both, then uniformity alone", without_alignment),
        experiment.look_at("both, then alignment alone", without_uniformity),
        experiment.look_at("uniformity alone from the start", from_the_start),
    ]


class _Experiment:
    """One mixing, its pairs, and the points to look at."""

    def __init__(self, seed: int) -> None:
        self.generator = Generator().manual_seed(seed)
        mixing = Layers().draw(_SPACE.dim, generator=self.generator)
        self.source = SyntheticPairs(Marginal(_SPACE, Uniform()), Conditional(_SPACE, _CONDITIONAL), mixing)
        self.latents, self.observations = self.source.with_factors(_SAMPLES, self.generator)
        # The radius that matches the conditional is given, so that half a loss cannot do its work by another one.
        recipe = contrastive_recipe("fast", Model(_SPACE, "vmf"))
        self.encoder_settings = replace(recipe.encoder, scale_start=math.sqrt(_CONDITIONAL.kappa))
        self.training = replace(recipe.training, learning_rate=_LEARNING_RATE, scale_learning_rate=0.0)

    def encoder(self) -> Encoder:
        return make_encoder(self.encoder_settings, _SPACE, self.observations, self.generator)

    def train(self, encoder: Encoder, halves: tuple[_Half, ...], steps: int) -> Encoder:
        learner, training = _PartsOfLoss(encoder, halves), self.training
        schedule = Schedule(steps, training.warmup, training.cosine)
        train(
            learner,
            self.source,
            make_optimizers(learner, training),
            schedule,
            batch_size=training.batch_size,
            generator=self.generator,
            device="cpu",
        )
        return encoder

    def look_at(self, loss: str, encoder: Encoder) -> TrainedHalves:
        encoder.eval()
        with torch.no_grad():
            codes = encoder(self.observations)
        volume = measure_volume(lambda z: encoder(self.source.mixing(z)), self.latents, _SPACE)
        return TrainedHalves(loss, volume, linear_r2(self.latents, codes).value)


@final
class _PartsOfLoss(Learner):
    """A learner whose loss is one half of InfoNCE, or both."""

    def __init__(self, encoder: Encoder, halves: tuple[_Half, ...]) -> None:
        super().__init__()
        self.encoder, self.halves = encoder, halves
        # Without the positive in the denominator, uniformity is about strangers alone.
        self.objective = InfoNCE(DotProduct(), positive_in_denominator=False, in_batch="positives")

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        return source.pairs(count, generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        anchors, positives = self.encoder(torch.cat(batch)).chunk(2)
        parts = self.objective.parts(anchors, positives)._asdict()
        return torch.stack([parts[half] for half in self.halves]).sum()

    def codes(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.encoder(observations)
        return codes
