"""Pairs of images of scenes: matched to latents that were drawn, rendered as such, or two views of one image."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import final

import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.laws import Conditional, Normal
from identica.rendering.latents import LATENTS
from identica.sources.base import Factor, NumberedSource, Part, SplitSource
from identica.sources.threedident.folder import SceneImages
from identica.sources.threedident.matching import Matcher

__all__ = ["MatchedPairs", "RenderedPairs", "ScenePairing", "ScenePairs"]

PAPERS_PAIRS = Normal(0.1)
"""How the latents of partners differ, confined to the box."""

_ENTRIES_AT_ONCE = 1 << 22
_MOST_ENTRIES = 1 << 26


class ScenePairing(ABC):
    """Where the partner of an image comes from."""

    @abstractmethod
    def pairs(self, images: SceneImages, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """Anchors, made of the images with these numbers, and their positives, [count, 3, height, width] each."""


@final
class MatchedPairs(ScenePairing):
    """z~ ~ p(z~ | z) around the latents z of the anchor; the partner is the nearest other image to it.

    Args:
        conditional: p(z~ | z), on the box of the latents.
        matcher: Over the latents of all images.
    """

    def __init__(self, conditional: Conditional, matcher: Matcher) -> None:
        self.conditional, self.matcher = conditional, matcher

    def partners(self, images: SceneImages, rows: Tensor, generator: Generator) -> Tensor:
        """Draw the number of a partner for each of these images."""
        given = images.latents[rows.cpu()].to(generator.device)
        return self.matcher.nearest(self.conditional.sample(given, generator), rows)

    def pairs(self, images: SceneImages, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        partners = self.partners(images, rows, generator)
        return images.floats(rows, generator.device), images.floats(partners, generator.device)


@final
class RenderedPairs(ScenePairing):
    """Each image has one partner that was rendered from latents drawn for it.

    Args:
        partners: As many as there are images, in their order.
    """

    def __init__(self, partners: SceneImages) -> None:
        self.partners = partners

    def pairs(self, images: SceneImages, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        return images.floats(rows, generator.device), self.partners.floats(rows, generator.device)


@final
class ScenePairs(SplitSource, NumberedSource):
    """Images of scenes to train on, with partners, and others to score.

    Args:
        training: Images to draw anchors from, uniformly.
        test: Images that are never trained on.
        pairing: Where partners come from; None if no pairs are needed.
    """

    def __init__(self, training: SceneImages, test: SceneImages, pairing: ScenePairing | None) -> None:
        if training.shape != test.shape:
            raise InputError(f"training and test images must have one shape, got {training.shape} and {test.shape}")
        if isinstance(pairing, RenderedPairs):
            sizes = [(len(one), *one.shape) for one in (training, pairing.partners)]
            if sizes[0] != sizes[1]:
                raise InputError(f"partners must be as many and as large as the images, got {sizes[1]} for {sizes[0]}")
        self.training, self.test, self.pairing = training, test, pairing
        self.shape = training.shape
        self.factors = tuple(Factor(name) for name in LATENTS)
        self.parts: dict[Part, SceneImages] = {"training": training, "test": test}

    def __len__(self) -> int:
        return len(self.training)

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw anchors, with replacement, and their positives."""
        return self.pairs_of(self._rows(count, generator), generator)

    def pairs_of(self, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        """The anchors of these numbers, and a positive drawn for each."""
        if self.pairing is None:
            raise InputError("pairing must be given to draw pairs, got None")
        return self.pairing.pairs(self.training, rows, generator)

    def partners_of(self, rows: Tensor, generator: Generator) -> Tensor | None:
        """Numbers of positives, where these are images of the set itself."""
        if not isinstance(self.pairing, MatchedPairs):
            return None
        return self.pairing.partners(self.training, rows, generator)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` pairs of different anchors, fewer if they would fill the memory."""
        most = max(2, _MOST_ENTRIES // self.training.images[0].size)
        rows = torch.randperm(len(self), generator=generator, device=generator.device)[: min(count, most)]
        return self.pairs_of(rows, generator)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` different images of those to train on."""
        rows = torch.randperm(len(self), generator=generator, device=generator.device)[:count]
        return self.training.floats(rows, generator.device)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw images to train on, with replacement, and their latents."""
        rows = self._rows(count, generator)
        return self.training.latents[rows.cpu()].to(generator.device), self.training.floats(rows, generator.device)

    def scored_factors(self, part: Part) -> Tensor:
        """Latents of the first images of a part, as many as there are test images."""
        return self.parts[part].latents[: len(self.test)]

    def scored(self, part: Part, most: int | None = None, device: str = "cpu") -> Iterator[Tensor]:
        """The same images, in pieces."""
        images = self.parts[part]
        rows = torch.arange(min(len(self.test), len(images)))[:most]
        for piece in torch.split(rows, max(1, _ENTRIES_AT_ONCE // images.images[0].size)):
            yield images.floats(piece, device)

    def _rows(self, count: int, generator: Generator) -> Tensor:
        return torch.randint(len(self), (count,), generator=generator, device=generator.device)
