"""Pairs of images of a grid of factors, or of some of its combinations."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.sources.base import FixableSource
from identica.sources.binary_images import BinaryImages
from identica.sources.sprites.grid import Grid
from identica.sources.sprites.pair_laws import PairLaw

__all__ = ["GridPairs"]

_MOST_TRIES, _ROUNDS = 128, 50


@final
class GridPairs(FixableSource):
    """Anchors are images at random, partners follow a law; if images are missing, the law given that one is there.

    Args:
        images: Those that are there.
        grid: Of their factors.
        places: Of each image the place of its factors on the grid, each once.
        values: Of each factor the numbers that its classes stand for.
        law: Of partners, on the same grid; None if no pairs are needed.
    """

    def __init__(
        self, images: BinaryImages, grid: Grid, places: Tensor, values: list[Tensor], law: PairLaw | None
    ) -> None:
        device = images.bits.device
        if len(places) != len(images) or len(images) < 2:
            raise InputError(f"places must be those of 2 images or more, got {len(places)} of {len(images)} images")
        self.images, self.grid, self.law = images, grid, law
        self.factors, self.shape = grid.factors, (1, *images.size)
        self.classes = grid.classes(places.to(device))
        self.values = [column.to(device) for column in values]
        self.row_at = torch.full((grid.count,), -1, device=device)
        self.row_at[places.to(device)] = torch.arange(len(places), device=device)
        self.tries = 1 if len(places) == grid.count else min(_MOST_TRIES, math.ceil(2 * grid.count / len(places)))
        self.groups = [_Group(column, size) for column, size in zip(self.classes.T, grid.sizes, strict=True)]

    def __len__(self) -> int:
        return len(self.images)

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw anchors and their partners."""
        rows = torch.randint(len(self), (count,), generator=generator, device=generator.device)
        partners = self.partners(rows, generator)
        return self._images(rows, generator), self._images(partners, generator)

    def partners(self, rows: Tensor, generator: Generator) -> Tensor:
        """Draw the number of a partner for each of these images.

        Partners of the whole grid are drawn until one is there, which gives exactly the law given that it is.
        """
        law, rows = self._law(), rows.to(self.row_at.device)
        found, missing = torch.full_like(rows, -1), torch.arange(len(rows), device=rows.device)
        for _ in range(_ROUNDS):
            drawn = law.draw(self.classes[rows[missing]], self.tries, generator)
            there = self.row_at[self.grid.places(drawn.to(rows.device))]
            good = (there >= 0) & (there != rows[missing, None])
            first = there.gather(1, good.int().argmax(dim=1, keepdim=True)).squeeze(1)
            hit = good.any(dim=1)
            found[missing[hit]] = first[hit]
            missing = missing[~hit]
            if len(missing) == 0:
                return found
        for place in missing.tolist():
            found[place] = self._drawn_from_all(int(rows[place]), generator)
        return found

    def probabilities(self, row: int) -> Tensor:
        """What the law gives each image as a partner of one of them, [images]."""
        weights = self._law().log_weights(self.classes[row], self.classes)
        if bool(torch.isinf(weights).all()):
            raise InputError(f"images must each have a partner that the law allows, but number {row} has none")
        return torch.softmax(weights, dim=0)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` different images."""
        rows = torch.randperm(len(self), generator=generator, device=generator.device)[:count]
        return self._images(rows, generator)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw images, with replacement, and their factors."""
        rows = torch.randint(len(self), (count,), generator=generator, device=generator.device)
        return self._factors(rows, generator), self._images(rows, generator)

    def with_fixed(self, factor: int, count: int, generator: Generator, groups: int = 1) -> tuple[Tensor, Tensor]:
        """Draw groups of images that share the value of one factor."""
        _checks.column("factor", factor, self.factors)
        first = torch.randint(len(self), (groups,), generator=generator, device=generator.device)
        wanted = self.classes[first.to(self.classes.device), factor]
        rows = self.groups[factor].draw(wanted, count, generator).flatten()
        factors, images = self._factors(rows, generator), self._images(rows, generator)
        return factors.view(groups, count, -1), images.view(groups, count, *self.shape)

    def _law(self) -> PairLaw:
        if self.law is None:
            raise InputError("law must be given to draw pairs, got None")
        return self.law

    def _images(self, rows: Tensor, generator: Generator) -> Tensor:
        return self.images.floats(rows).to(generator.device)

    def _factors(self, rows: Tensor, generator: Generator) -> Tensor:
        classes = self.classes[rows.to(self.classes.device)]
        columns = [values[column] for values, column in zip(self.values, classes.T, strict=True)]
        return torch.stack(columns, dim=1).float().to(generator.device)

    def _drawn_from_all(self, row: int, generator: Generator) -> int:
        """An anchor whose partners are so rare that none turned up: weigh every image."""
        heights = self.probabilities(row).cumsum(dim=0)
        drawn = torch.rand((1,), generator=generator, device=generator.device, dtype=heights.dtype).to(heights.device)
        return int(torch.searchsorted(heights, drawn * heights[-1]).clamp(max=len(self) - 1))


class _Group:
    """Numbers of images by the class of one factor."""

    def __init__(self, classes: Tensor, size: int) -> None:
        self.order = classes.argsort(stable=True)
        self.counts = classes.bincount(minlength=size)
        self.starts = self.counts.cumsum(dim=0) - self.counts

    def draw(self, wanted: Tensor, count: int, generator: Generator) -> Tensor:
        """Numbers of images with the wanted classes, `count` of each, [wanted, count]."""
        drawn = torch.rand(len(wanted), count, generator=generator, device=generator.device, dtype=torch.float64)
        counts = self.counts[wanted][:, None]
        steps = (drawn.to(wanted.device) * counts).long().minimum(counts - 1)
        return self.order[self.starts[wanted][:, None] + steps]
