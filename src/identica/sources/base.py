"""What a source of positive pairs is, and how one is described."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, final

from torch import Generator, Tensor

from identica._checks import InputError
from identica.spaces import Space

__all__ = [
    "Factor",
    "FactorKind",
    "FixableSource",
    "LabelledSource",
    "NumberedSource",
    "Part",
    "Source",
    "SourceSettings",
    "SplitSource",
]

FactorKind = Literal["continuous", "circular", "ordinal", "categorical"]
"""What the values of a factor are: numbers, angles, ranks, or names without an order."""

Part = Literal["test", "training", "held_out"]
"""Samples that are never trained on, or those that are."""

_MOST_ENTRIES = 1 << 26


@final
@dataclass(frozen=True)
class Factor:
    """A factor whose true values are known.

    Args:
        name: What a page calls it.
        kind: What its values are.
    """

    name: str
    kind: FactorKind = "continuous"


class Source(ABC):
    """Anything that yields positive pairs of observations: a formula, an array, a renderer, a folder.

    Training sees `pairs` alone; nothing about the factors passes through it.

    Attributes:
        shape: Of one observation.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw `count` anchors and their positives, [count, …] each, on the generator's device."""

    @abstractmethod
    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw `count` single observations, or all there are if they are fewer, [count, …]."""

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` pairs of which no two are the same; by default there are pairs without end."""
        return self.pairs(count, generator)

    def bounded_sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` single observations, fewer if they are so large that they would fill the memory."""
        return self.sample(max(2, min(count, _MOST_ENTRIES // max(1, math.prod(self.shape)))), generator)


class NumberedSource(Source):
    """A source of pairs whose anchors have numbers, so that a learner may choose which of them meet in a batch."""

    @abstractmethod
    def __len__(self) -> int:
        """How many anchors there are."""

    @abstractmethod
    def pairs_of(self, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """The anchors of these numbers, and a positive drawn for each, [count, …] each."""

    def partners_of(self, rows: Tensor, generator: Generator) -> Tensor | None:
        """Draw the number of a positive for each of these anchors, if positives are anchors too; None if not."""
        return None


class LabelledSource(Source):
    """A source whose factors are known, for scores and for the supervised baseline.

    Attributes:
        factors: A name and a kind for each column of the factors.
    """

    factors: tuple[Factor, ...]

    @abstractmethod
    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw factors, [count, number of factors], and their observations, [count, …]."""

    def whole(self) -> LabelledSource:
        """What the main scores are of: the same, with what is held out from training; by default nothing is."""
        return self

    def held_out(self) -> LabelledSource | None:
        """What is never trained on, for scores of its own; by default nothing is held out."""
        return None


class FixableSource(LabelledSource):
    """A labelled source that can hold one factor fixed, for scores that ask which code does not move then."""

    @abstractmethod
    def with_fixed(self, factor: int, count: int, generator: Generator, groups: int = 1) -> tuple[Tensor, Tensor]:
        """Draw groups of observations that share the value of one factor, another one in each group.

        Args:
            factor: Its column.
            count: Observations in a group.
            generator: Of randomness.
            groups: How many groups.

        Returns:
            Factors, [groups, count, number of factors], and their observations, [groups, count, …].
        """


class SplitSource(LabelledSource):
    """A labelled source that keeps some samples apart: runs are scored on these, and on as many that are trained on."""

    @abstractmethod
    def scored_factors(self, part: Part) -> Tensor:
        """Factors of the samples of a part that are scored, [count, number of factors]."""

    @abstractmethod
    def scored(self, part: Part, most: int | None = None, device: str = "cpu") -> Iterator[Tensor]:
        """Observations of the same samples in the same order, in pieces that fit into memory.

        Args:
            part: Which samples.
            most: No more than so many of them.
            device: Where they go.
        """


class SourceSettings(ABC):
    """A source as plain data: a frozen dataclass that builds it from a seed, and prints as what a table calls it.

    Attributes:
        observes: `vectors` or `images`, which are trained on by recipes of their own.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "vectors"

    @abstractmethod
    def build(self, seed: int, device: str = "cpu") -> LabelledSource:
        """The source; all that is random about it (a mixing, a choice of images) comes from the seed."""

    def unpaired(self) -> Self:
        """The same without what concerns pairs alone: what decides the result of a learner that sees labels."""
        return self

    def available(self) -> Self:
        """The same with what there is of its data on this machine."""
        return self

    def published(self) -> Self:
        """The same with all of the data that a paper used, as its rows name it."""
        return self

    def rendered(self) -> Self:
        """The same with partners that were rendered outright, where the source has such."""
        raise InputError(f"partners can be rendered outright for 3DIdent with a law of pairs alone, got {self}")

    def baseline_space(self, codes: Space) -> Space:
        """Where codes of the supervised baseline live, beside a learner whose codes live in that space."""
        return codes

    def describe(self) -> str:
        """A sentence on where the data come from."""
        return f"Pairs of observations come from {self}."
