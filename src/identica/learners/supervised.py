"""Labels: the upper bound of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final

from torch import Generator, Tensor

from identica._checks import InputError
from identica.encoders import Encoder, make_encoder
from identica.learners.base import Learner, LearnerSettings
from identica.models import Ambiguity
from identica.objectives import mean_squared_error
from identica.recipes import Recipe, supervised_image_recipe, supervised_recipe
from identica.sources import LabelledSource, Source
from identica.spaces import Space

__all__ = ["Supervised", "SupervisedLearner"]


@final
@dataclass(frozen=True)
class Supervised(LearnerSettings):
    """The same kind of encoder, trained to give the known factors.

    Args:
        space: Of the codes.
    """

    kind: ClassVar[Literal["unsupervised", "supervised"]] = "supervised"

    space: Space

    def __str__(self) -> str:
        return f"{self.space.name}, supervised"

    @property
    def ambiguity(self) -> Ambiguity:
        return "permutation"

    @property
    def code_space(self) -> Space:
        return self.space

    def recipe(self, protocol: str) -> Recipe:
        return supervised_recipe(protocol, self.space)

    def image_recipe(self, protocol: str) -> Recipe:
        return supervised_image_recipe(protocol, self.space)

    def build(self, recipe: Recipe, sample: Tensor, generator: Generator) -> SupervisedLearner:
        return SupervisedLearner(make_encoder(recipe.encoder, self.space, sample, generator))

    def describe(self) -> str:
        return "The encoder learnt the factors from labels, as an upper bound."


@final
class SupervisedLearner(Learner):
    """Mean squared error against known factors.

    Args:
        encoder: From observations to codes.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        if not isinstance(source, LabelledSource):
            raise InputError(f"source must know its factors to train with labels, got {type(source).__name__}")
        return source.with_factors(count, generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        factors, observations = batch
        return mean_squared_error(self.encoder(observations), factors)

    def codes(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.encoder(observations)
        return codes
