"""Alignment and uniformity of pairs, weighed against each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.encoders import Encoder, make_encoder
from identica.learners.base import Learner, LearnerSettings
from identica.models import Ambiguity, Model
from identica.objectives import AlignmentUniformity
from identica.recipes import Recipe, contrastive_recipe, image_recipe
from identica.sources import Source
from identica.spaces import Real, Space, Sphere

__all__ = ["AlignUniform", "AlignUniformLearner"]

_CONDITIONALS = {1: "laplace", 2: "normal"}


@final
@dataclass(frozen=True)
class AlignUniform(LearnerSettings):
    """L_AU(a, p) = a · L_uniform(p) + (1 - a) · L_align(p) (workshop, Eq. 70–72).

    Args:
        a: Weight of uniformity, between 0 and 1.
        p: Power of the distance, 1 or 2.
        space: Of the codes: the unbounded space, or a box.
    """

    a: float = 0.5
    p: int = 1
    space: Space = field(default_factory=lambda: Real(10))

    def __post_init__(self) -> None:
        AlignmentUniformity(self.a, self.p)
        if isinstance(self.space, Sphere):
            raise InputError(f"space must be a box or unbounded, got {self.space.name!r}")

    def __str__(self) -> str:
        where = "" if isinstance(self.space, Real) else f", {self.space.name}"
        return f"L_AU({self.a:g}, {self.p}){where}"

    @property
    def model(self) -> Model:
        """What the same distance assumes in InfoNCE."""
        return Model(self.space, _CONDITIONALS[self.p])

    @property
    def ambiguity(self) -> Ambiguity:
        return self.model.ambiguity

    @property
    def code_space(self) -> Space:
        return self.space

    def recipe(self, protocol: str) -> Recipe:
        return replace(contrastive_recipe(protocol, self.model), contrastive=None)

    def image_recipe(self, protocol: str) -> Recipe:
        return replace(image_recipe(protocol, self.model), contrastive=None)

    def build(self, recipe: Recipe, sample: Tensor, generator: Generator) -> AlignUniformLearner:
        encoder = make_encoder(recipe.encoder, self.space, sample, generator)
        return AlignUniformLearner(encoder, AlignmentUniformity(self.a, self.p))

    def describe(self) -> str:
        return f"The encoder saw pairs of observations alone, and minimised {self}."


@final
class AlignUniformLearner(Learner):
    """a · E log E exp(-‖u - u⁻‖_p^p) + (1 - a) · E ‖u - u⁺‖_p^p; both halves of a pair pass the encoder at once.

    Args:
        encoder: From observations to codes.
        objective: The loss of pairs of codes.
    """

    def __init__(self, encoder: Encoder, objective: AlignmentUniformity) -> None:
        super().__init__()
        self.encoder, self.objective = encoder, objective
        self._parts: dict[str, Tensor] = {}

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        return source.pairs(count, generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        first, second = self.codes(torch.cat(batch)).chunk(2)
        found = self.objective.parts(first, second)
        self._parts = {name: value.detach() for name, value in found._asdict().items()}
        return found.alignment + found.uniformity

    def parts(self) -> dict[str, Tensor]:
        return self._parts

    def codes(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.encoder(observations)
        return codes
