"""How the factors of a pair of sprites differ: the laws UNI and LAP on a grid."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica.sources.sprites.grid import Grid

__all__ = ["LaplaceMoves", "PairLaw", "UniformMoves"]


class PairLaw(ABC):
    """Of the classes of an anchor, the law of those of its partner.

    Attributes:
        grid: What the classes are of.
    """

    grid: Grid

    @abstractmethod
    def draw(self, anchors: Tensor, tries: int, generator: Generator) -> Tensor:
        """Partners of anchors [count, factors], `tries` of each, [count, tries, factors].

        A law may return the anchor itself: callers drop it, and so get the law given that something changed.
        """

    @abstractmethod
    def log_weights(self, anchor: Tensor, partners: Tensor) -> Tensor:
        """Logarithms of what the law gives partners [count, factors] of one anchor, up to a constant, [count]."""


@final
class UniformMoves(PairLaw):
    """UNI: k of the D factors change, k uniform in 1, …, D - 1; each of them to another value, uniformly.

    Args:
        grid: Of the factors.

    Example:
        >>> from identica.sources import Factor
        >>> law = UniformMoves(Grid((Factor("x"), Factor("y")), (4, 4)))
        >>> partners = law.draw(torch.tensor([[1, 1]]), 50, torch.Generator().manual_seed(0))
        >>> (partners != torch.tensor([1, 1])).sum(dim=-1).unique()
        tensor([1])
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        count = len(grid.sizes)
        choices = torch.cartesian_prod(*[torch.arange(2)] * count).bool()
        changed = choices.sum(dim=1)
        self.choices = choices[(changed > 0) & (changed < count)]
        # Of k factors that change there are C(D, k) choices.
        ways = torch.tensor([math.comb(count, int(k)) for k in self.choices.sum(dim=1)], dtype=torch.float64)
        self.heights = (1 / ways / (count - 1)).cumsum(dim=0)

    def draw(self, anchors: Tensor, tries: int, generator: Generator) -> Tensor:
        device = generator.device
        anchors, sizes = anchors[:, None].to(device), torch.tensor(self.grid.sizes, device=device)
        drawn = torch.rand(len(anchors), tries, generator=generator, device=device, dtype=torch.float64)
        chosen = torch.searchsorted(self.heights.to(device), drawn).clamp(max=len(self.choices) - 1)
        steps = torch.rand(len(anchors), tries, len(sizes), generator=generator, device=device) * (sizes - 1)
        moved = (anchors + 1 + steps.long().minimum(sizes - 2)) % sizes
        return torch.where(self.choices.to(device)[chosen], moved, anchors)

    def log_weights(self, anchor: Tensor, partners: Tensor) -> Tensor:
        different = partners != anchor
        factors = len(self.grid.sizes)
        choices = partners.new_tensor([math.comb(factors, k) for k in range(factors + 1)]).double().log()
        values = partners.new_tensor([size - 1 for size in self.grid.sizes]).double().log()
        changed = different.sum(dim=1)
        found = -choices[changed] - (different * values).sum(dim=1)
        return found.masked_fill((changed == 0) | (changed == factors), -math.inf)


@final
class LaplaceMoves(PairLaw):
    """LAP: P(j | i) ∝ exp(-|i - j| rate / log n) for each factor with an order, of n values; one at least changes.

    Categorical factors stay. A circular factor is a row of values like any other: its last is far from its first. On a
    part of a grid i, j and n are those of the whole, and j is one of the values that are kept.

    Args:
        grid: Of the factors.
        rate: The larger, the smaller the steps.
    """

    def __init__(self, grid: Grid, rate: float = 1.0) -> None:
        self.grid = grid
        self.rate = _checks.positive("rate", rate)
        self.moving = [place for place, factor in enumerate(grid.factors) if factor.kind != "categorical"]
        self.tables = {place: self._table(place) for place in self.moving}
        self.heights = {place: table.cumsum(dim=1) for place, table in self.tables.items()}

    def draw(self, anchors: Tensor, tries: int, generator: Generator) -> Tensor:
        device = generator.device
        partners = anchors[:, None].to(device).expand(-1, tries, -1).clone()
        for place in self.moving:
            heights = self.heights[place].to(device)[anchors[:, place].to(device)]
            drawn = torch.rand(len(anchors), tries, generator=generator, device=device, dtype=heights.dtype)
            partners[..., place] = torch.searchsorted(heights, drawn).clamp(max=self.grid.sizes[place] - 1)
        return partners

    def log_weights(self, anchor: Tensor, partners: Tensor) -> Tensor:
        found = torch.zeros(len(partners), dtype=torch.float64, device=partners.device)
        for place in self.moving:
            table = self.tables[place].to(partners.device)
            found += table[anchor[place]].log()[partners[:, place]]
        stays = [place for place in range(len(anchor)) if place not in self.moving]
        moved = (partners[:, stays] != anchor[stays]).any(dim=1)
        return found.masked_fill(moved | (partners == anchor).all(dim=1), -math.inf)

    def _table(self, column: int) -> Tensor:
        """Probabilities of the kept values, [size, size], a row for each value of the anchor."""
        marks = self.grid.marks(column).double()
        return torch.softmax(-(marks[:, None] - marks).abs() * self.rate / math.log(self.grid.whole[column]), dim=1)
