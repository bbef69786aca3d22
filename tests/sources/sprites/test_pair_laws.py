from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats

from identica._checks import InputError
from identica.sources import Factor
from identica.sources.sprites import DSPRITES_GRID, Grid, LaplaceMoves, PairLaw, UniformMoves

GRID = Grid((Factor("shape", "categorical"), Factor("angle", "circular"), Factor("x", "ordinal")), (3, 4, 5))
PART = GRID.part(torch.tensor([[0, 0, 0], [1, 2, 1], [2, 3, 4], [0, 0, 3]]))
Cells = dict[tuple[int, ...], float]


def uniform_by_hand(grid: Grid, anchor: tuple[int, ...]) -> Cells:
    """All ways to choose k, the factors and their values, added up."""
    count = len(grid.sizes)
    found: Cells = {}
    for k in range(1, count):
        for chosen in itertools.combinations(range(count), k):
            others = [
                [value for value in range(size) if value != anchor[place]] if place in chosen else [anchor[place]]
                for place, size in enumerate(grid.sizes)
            ]
            weight = 1 / (count - 1) / math.comb(count, k) / math.prod(map(len, others))
            for cell in itertools.product(*others):
                found[cell] = found.get(cell, 0) + weight
    return found


def laplace_by_hand(grid: Grid, anchor: tuple[int, ...], rate: float = 1.0) -> Cells:
    """Products of densities at the distances on the whole grid, given that something changed."""
    found: Cells = {}
    for cell in itertools.product(*map(range, grid.sizes)):
        if cell == anchor or cell[0] != anchor[0]:
            continue
        found[cell] = math.prod(
            stats.laplace.pdf(grid.kept[place][cell[place]] - grid.kept[place][anchor[place]], scale=math.log(n) / rate)
            for place, n in list(enumerate(grid.whole))[1:]
        )
    total = sum(found.values())
    return {cell: weight / total for cell, weight in found.items()}


CASES = [
    (UniformMoves(GRID), uniform_by_hand),
    (UniformMoves(PART), uniform_by_hand),
    (LaplaceMoves(GRID), laplace_by_hand),
    (LaplaceMoves(PART), laplace_by_hand),
]


@pytest.mark.parametrize(("law", "by_hand"), CASES)
def test_partners_follow_the_law(law: PairLaw, by_hand: Callable[..., Cells], generator: torch.Generator) -> None:
    anchor = (1, 2, 1)
    expected = by_hand(law.grid, anchor)
    drawn = law.draw(torch.tensor([anchor]), 20_000, generator)[0]
    drawn = drawn[(drawn != torch.tensor(anchor)).any(dim=1)]
    cells, counts = np.unique(drawn.numpy(), axis=0, return_counts=True)
    observed = dict(zip(map(tuple, cells.tolist()), counts.tolist(), strict=True))
    assert observed.keys() <= expected.keys()
    frequencies = [observed.get(cell, 0) for cell in expected]
    assert stats.chisquare(frequencies, np.array([*expected.values()]) * len(drawn)).pvalue > 0.01


@pytest.mark.parametrize(("law", "by_hand"), CASES)
def test_weights_are_the_law_itself(law: PairLaw, by_hand: Callable[..., Cells]) -> None:
    anchor = (1, 0, 2)
    everything = law.grid.classes(torch.arange(law.grid.count))
    found = torch.softmax(law.log_weights(torch.tensor(anchor), everything), dim=0)
    expected = by_hand(law.grid, anchor)
    assert found.numpy() == pytest.approx([expected.get(tuple(cell), 0.0) for cell in everything.tolist()], abs=1e-12)


def test_as_many_factors_change_as_were_asked_for(generator: torch.Generator) -> None:
    anchors = DSPRITES_GRID.classes(torch.randint(DSPRITES_GRID.count, (4000,), generator=generator))
    partners = UniformMoves(DSPRITES_GRID).draw(anchors, 1, generator)[:, 0]
    changed = (partners != anchors).sum(dim=1).bincount(minlength=6)
    assert changed[0] == changed[5] == 0
    assert stats.chisquare(changed[1:5].numpy()).pvalue > 0.01


def test_the_ends_of_a_circle_are_far_apart(generator: torch.Generator) -> None:
    anchors = torch.zeros(5000, 5, dtype=torch.long)
    angles = LaplaceMoves(DSPRITES_GRID).draw(anchors, 1, generator)[:, 0, 2]
    assert (angles < 20).float().mean() > 0.98


def test_a_larger_rate_makes_smaller_steps(generator: torch.Generator) -> None:
    anchors = torch.full((5000, 5), 2)
    steps = [
        (LaplaceMoves(DSPRITES_GRID, rate).draw(anchors, 1, generator)[:, 0, 3] - 2).abs().float().mean()
        for rate in (1.0, 5.0)
    ]
    assert steps[0] > 2 * steps[1]


def test_a_rate_must_be_positive() -> None:
    with pytest.raises(InputError, match="rate must be a finite number above 0, got 0"):
        LaplaceMoves(GRID, 0)
