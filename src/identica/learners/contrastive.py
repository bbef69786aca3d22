"""InfoNCE on positive pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import torch
from torch import Generator, Tensor, nn

from identica._random import random_stream
from identica.encoders import Encoder, Units, encode, make_encoder
from identica.information import match_scale
from identica.laws import Law
from identica.learners.base import Learner, LearnerSettings
from identica.models import Ambiguity, Model
from identica.objectives import InfoNCE
from identica.recipes import ContrastiveSettings, Recipe, contrastive_recipe, exceeds_two
from identica.similarities import PowerDistance
from identica.sources import Source
from identica.spaces import Space

__all__ = ["Contrastive", "ContrastiveLearner"]

_CALIBRATION_SAMPLES, _CALIBRATION_PAIRS = 16_384, 4096


@final
@dataclass(frozen=True)
class Contrastive(LearnerSettings):
    """An encoder that tells partners from strangers, by the similarity that fits the model."""

    model: Model

    def __str__(self) -> str:
        return str(self.model)

    @property
    def ambiguity(self) -> Ambiguity:
        return self.model.ambiguity

    @property
    def code_space(self) -> Space:
        return self.model.space

    def recipe(self, protocol: str) -> Recipe:
        return contrastive_recipe(protocol, self.model)

    def build(
        self, recipe: Recipe, sample: Tensor, generator: Generator, network: nn.Module | None = None
    ) -> ContrastiveLearner:
        """The learner before training; `network` is one of the caller's own in the place of the recipe's."""
        assert recipe.contrastive is not None
        encoder = make_encoder(recipe.encoder, self.model.space, sample, generator, network)
        return ContrastiveLearner(encoder, self.model, recipe.contrastive)

    def describe(self) -> str:
        return f"The encoder saw pairs of observations alone, and assumed: {self}."


@final
class ContrastiveLearner(Learner):
    """InfoNCE on positive pairs; both halves of a pair go through the encoder in one pass.

    With the halves swapped (`backward`) it tells from z~ which z it came from. With other z as negatives the log ratio
    p(z | z~) / p(z) is log p(z~ | z) up to a function of z~, whatever the marginal; forwards, that holds for a uniform
    one alone.

    Args:
        encoder: From observations to codes.
        model: What is assumed.
        settings: Which InfoNCE is minimised.
    """

    scale: Tensor

    def __init__(self, encoder: Encoder, model: Model, settings: ContrastiveSettings) -> None:
        super().__init__()
        self.encoder, self.model, self.settings = encoder, model, settings
        self.objective = InfoNCE(
            model.similarity,
            positive_in_denominator=settings.positive_in_denominator,
            anchor_weight=settings.anchor_weight,
            in_batch=settings.in_batch,
        )
        lowered = exceeds_two(model.similarity) and settings.quadratic_until > 0
        dim = model.space.dim
        self.units = Units(torch.zeros(dim), torch.ones(dim))
        self.register_buffer("scale", torch.ones(()))
        self.first_objective = replace(self.objective, similarity=PowerDistance(2.0)) if lowered else self.objective

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        return source.pairs(count, generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        anchors, positives = self.encoder(torch.cat(batch)).chunk(2)
        if self.settings.backward:
            anchors, positives = positives, anchors
        first = progress < self.settings.quadratic_until
        return (self.first_objective if first else self.objective)(anchors, positives)

    def codes(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.encoder(observations)
        return codes

    @property
    def reader(self) -> nn.Sequential:
        """From observations to codes in the units that users read."""
        return nn.Sequential(self.encoder, self.units)

    def calibrate(self, source: Source, seed: int) -> dict[str, Any]:
        """Fix the units of the codes, and match the width of the conditional to pairs in these units."""
        generator = random_stream(seed, "calibration", str(self.units.shift.device))
        sample = source.bounded_sample(_CALIBRATION_SAMPLES, generator)
        measured = self.encoder.head.units(encode(self.encoder, sample))
        self.units.load_state_dict(measured.state_dict())
        first, second = (encode(self.reader, half) for half in source.distinct_pairs(_CALIBRATION_PAIRS, generator))
        self.scale.fill_(match_scale(self.model.similarity, first, second))
        return {"conditional": str(self.law)}

    @property
    def law(self) -> Law:
        """The conditional that was fitted by `calibrate`, in units of the codes."""
        return self.model.similarity.law(float(self.scale))
