"""What training asks of a learner, and how one is described."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, NamedTuple

from torch import Generator, Tensor, nn

from identica.encoders import Scale, Stretch
from identica.models import Ambiguity
from identica.recipes import Recipe
from identica.sources import Source
from identica.spaces import Space

__all__ = ["Learner", "LearnerSettings", "ParameterGroup", "Role"]

Role = Literal["matrices", "vectors", "scales", "widths"]
"""How parameters are trained: as matrices (or kernels), vectors (biases), or sizes of all codes or of single ones."""


class ParameterGroup(NamedTuple):
    """Parameters that are trained in one way."""

    role: Role
    parameters: list[nn.Parameter]


class Learner(nn.Module, ABC):
    """A module that owns all its networks. Called with a batch, it gives the loss."""

    @abstractmethod
    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        """Draw what one update learns from: pairs, or observations with their factors."""

    @abstractmethod
    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        """Loss of a batch, when this part of the steps (0 to 1) is done."""

    def parts(self) -> dict[str, Tensor]:
        """Named parts of the loss of the latest batch, for its curve; they add up to the loss. None by default."""
        return {}

    @contextmanager
    def reading(self, source: Source) -> Iterator[Source]:
        """The source to draw batches from while training: what can be computed once may be done ahead."""
        yield source

    @abstractmethod
    def codes(self, observations: Tensor) -> Tensor:
        """Codes of observations, as the loss sees them."""

    def groups(self) -> list[ParameterGroup]:
        """All learnable parameters by the way they are trained; a learner may group them otherwise."""
        roles: dict[int, Role] = {}
        for module in self.modules():
            if isinstance(module, Scale | Stretch):
                role: Role = "scales" if isinstance(module, Scale) else "widths"
                roles |= dict.fromkeys(map(id, module.parameters()), role)
        found: dict[Role, list[nn.Parameter]] = {"matrices": [], "vectors": [], "scales": [], "widths": []}
        for value in self.parameters():
            if value.requires_grad:
                found[roles.get(id(value), "matrices" if value.ndim >= 2 else "vectors")].append(value)
        return [ParameterGroup(role, values) for role, values in found.items()]

    def calibrate(self, source: Source, seed: int) -> dict[str, Any]:
        """Measure, after training, what users read codes by; returned as plain data for records."""
        return {}


class LearnerSettings(ABC):
    """A learner as plain data: a frozen dataclass that builds it, and prints as what a table calls it.

    Attributes:
        kind: `unsupervised` or `supervised`.
    """

    kind: ClassVar[Literal["unsupervised", "supervised"]] = "unsupervised"

    @property
    @abstractmethod
    def ambiguity(self) -> Ambiguity:
        """Up to which map the factors can be recovered."""

    @property
    @abstractmethod
    def code_space(self) -> Space:
        """Where codes live."""

    @abstractmethod
    def recipe(self, protocol: str) -> Recipe:
        """How it is trained: the recipe of that name, `fast` or `paper`."""

    def image_recipe(self, protocol: str) -> Recipe:
        """How it is trained on images, if that is different."""
        return self.recipe(protocol)

    def recipe_for(self, protocol: str, *, images: bool) -> Recipe:
        """The recipe of that name, for images or for vectors."""
        return self.image_recipe(protocol) if images else self.recipe(protocol)

    @abstractmethod
    def build(self, recipe: Recipe, sample: Tensor, generator: Generator) -> Learner:
        """The learner before training, for observations like `sample`."""

    def describe(self) -> str:
        """A sentence on what was trained."""
        return f"Trained: {self}."
