"""Pairs from known latents through a known mixing, for experiments where the truth is at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica._random import random_stream
from identica.laws import Conditional, Law, Marginal, Uniform
from identica.sources.base import Factor, LabelledSource, SourceSettings
from identica.sources.mixings import Layers, Mixing
from identica.spaces import Space

__all__ = ["Synthetic", "SyntheticPairs"]

_UNIFORM = Uniform()
_PAPERS_MIXING = Layers()
_SIZE_OF_THE_PAPER = (10, 10)


@final
@dataclass(frozen=True)
class Synthetic(SourceSettings):
    """z ~ p(z), z~ ~ p(z~ | z), x = g(z), x~ = g(z~), with a random g.

    Args:
        space: Of the latents.
        conditional: p(z~ | z); None if no pairs are needed.
        marginal: p(z).
        observed: Number of observed coordinates; as many as latents if not given.
        mixing: What g is drawn from.
        shuffled: Give each anchor the partner of another one: a control, of which nothing can be learnt.
    """

    space: Space
    conditional: Law | None
    marginal: Law = _UNIFORM
    observed: int | None = None
    mixing: Layers = _PAPERS_MIXING
    shuffled: bool = False

    def __post_init__(self) -> None:
        self.marginal.check(self.space)
        if self.conditional is not None:
            self.conditional.check(self.space)
        if self.observed is not None and self.observed < self.space.dim:
            raise InputError(f"observed must be at least the {self.space.dim} latents, got {self.observed}")
        if self.observed == self.space.dim:
            object.__setattr__(self, "observed", None)  # one way to say it, so that runs have one name

    def __str__(self) -> str:
        words = [self.space.name, str(self.marginal)]
        words += [] if self.conditional is None else [str(self.conditional)]
        size = self.space.dim, self.observed or self.space.dim
        words += [] if size == _SIZE_OF_THE_PAPER else ["N = {}, K = {}".format(*size)]
        words += [] if self.mixing == _PAPERS_MIXING else [str(self.mixing)]
        return ", ".join([*words, "shuffled pairs"] if self.shuffled else words)

    def build(self, seed: int, device: str = "cpu") -> SyntheticPairs:
        """The source, with the mixing that the seed draws."""
        mixing = self.mixing.draw(self.space.dim, self.observed, generator=random_stream(seed, "mixing"))
        conditional = None if self.conditional is None else Conditional(self.space, self.conditional)
        return SyntheticPairs(Marginal(self.space, self.marginal), conditional, mixing.to(device), self.shuffled)

    def unpaired(self) -> Synthetic:
        """The same without a conditional."""
        return replace(self, conditional=None, shuffled=False)

    def describe(self) -> str:
        """A sentence on the latents and their pairs."""
        hidden = f"{self.space.dim} factors ({self.space.name}, {self.marginal}) were mixed by a random network"
        if self.conditional is None:
            return f"{hidden}."
        return f"{hidden}. The factors of pairs differ by {self.conditional}{', but are shuffled' * self.shuffled}."


@final
class SyntheticPairs(LabelledSource):
    """Pairs of mixed latents, without end.

    Args:
        marginal: p(z).
        conditional: p(z~ | z), on the same space; None if no pairs are needed.
        mixing: g, a module from latents to observations.
        shuffled: Give each anchor the partner of another one.
    """

    def __init__(
        self, marginal: Marginal, conditional: Conditional | None, mixing: Mixing, shuffled: bool = False
    ) -> None:
        if conditional is not None and marginal.space != conditional.space:
            raise InputError(
                f"marginal and conditional must share one space, got {marginal.space} and {conditional.space}"
            )
        if mixing.dim != marginal.space.dim:
            raise InputError(f"mixing must take {marginal.space.dim} latents, got one for {mixing.dim}")
        self.marginal, self.conditional, self.mixing, self.shuffled = marginal, conditional, mixing, shuffled
        self.shape = (mixing.observed,)
        self.factors = tuple(Factor(f"factor {index + 1}") for index in range(marginal.space.dim))

    @torch.no_grad()
    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw anchors and positives."""
        if self.conditional is None:
            raise InputError("conditional must be given to draw pairs, got None")
        anchors = self.marginal.sample(count, generator)
        positives = self.conditional.sample(anchors, generator)
        if self.shuffled:
            positives = positives[torch.randperm(count, generator=generator, device=generator.device)]
        observations: Tensor = self.mixing(torch.cat([anchors, positives]))
        first, second = observations.chunk(2)
        return first, second

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw observations."""
        return self.with_factors(count, generator)[1]

    @torch.no_grad()
    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw latents and their observations."""
        latents = self.marginal.sample(count, generator)
        return latents, self.mixing(latents)
