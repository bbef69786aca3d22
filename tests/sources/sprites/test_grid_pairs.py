from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from identica._checks import InputError
from identica.sources import Factor, GridPairs
from identica.sources.sprites import BinaryImages, Grid, LaplaceMoves, PairLaw, UniformMoves

GRID = Grid((Factor("shape", "categorical"), Factor("x", "ordinal"), Factor("y", "ordinal")), (2, 6, 6))
LAWS = [UniformMoves(GRID), LaplaceMoves(GRID)]


def images_of(places: torch.Tensor, grid: Grid = GRID) -> BinaryImages:
    """Pictures from which the classes can be read: a byte for each."""
    return BinaryImages(grid.classes(places).byte(), (1, 8 * len(grid.sizes)))


def source_of(places: torch.Tensor, law: PairLaw | None) -> GridPairs:
    values = [torch.arange(float(size)) for size in GRID.sizes]
    return GridPairs(images_of(places), GRID, places, values, law)


def classes_of(images: torch.Tensor) -> torch.Tensor:
    numbers = 2.0 ** torch.arange(7, -1, -1)
    return (images.reshape(len(images), -1, 8) * numbers).sum(dim=2).long()


SOME = torch.tensor([0, 1, 5, 7, 8, 14, 20, 21, 30, 35, 36, 41, 44, 50, 60, 63, 70, 71])


@pytest.mark.parametrize("law", LAWS)
def test_with_images_missing_partners_follow_the_law_given_that_they_are_there(
    law: PairLaw, generator: torch.Generator
) -> None:
    source = source_of(SOME, law)
    for row in (3, 12):
        partners = source.partners(torch.full((10_000,), row), generator)
        weights = law.log_weights(GRID.classes(SOME[row]), GRID.classes(SOME)).exp().numpy()
        expected = weights / weights.sum()
        assert source.probabilities(row).numpy() == pytest.approx(expected)
        there = expected > 0
        counts = partners.bincount(minlength=len(SOME)).numpy()
        assert counts[~there].sum() == 0
        assert stats.chisquare(counts[there], 10_000 * expected[there]).pvalue > 0.01


@pytest.mark.parametrize("law", LAWS)
def test_pairs_of_the_whole_grid(law: PairLaw, generator: torch.Generator) -> None:
    source = source_of(torch.arange(GRID.count), law)
    anchors, positives = map(classes_of, source.pairs(500, generator))
    changed = (anchors != positives).sum(dim=1)
    assert changed.min() == 1
    if isinstance(law, UniformMoves):
        assert changed.max() == 2
    else:
        assert torch.equal(anchors[:, 0], positives[:, 0])


def test_partners_that_are_rare_are_found_all_the_same(generator: torch.Generator) -> None:
    far = LaplaceMoves(GRID, rate=500.0)
    source = source_of(torch.tensor([0, 14, 35, 70]), far)
    assert source.partners(torch.zeros(20, dtype=torch.long), generator).unique().tolist() == [1]


def test_an_image_without_a_partner_is_named(generator: torch.Generator) -> None:
    source = source_of(torch.tensor([0, 70]), LaplaceMoves(GRID))
    with pytest.raises(InputError, match="each have a partner that the law allows, but number 0 has none"):
        source.partners(torch.tensor([0]), generator)


@pytest.mark.parametrize("places", [torch.arange(GRID.count), SOME])
@pytest.mark.parametrize("factor", [0, 1, 2])
def test_groups_share_one_factor(factor: int, places: torch.Tensor, generator: torch.Generator) -> None:
    source = source_of(places, None)
    factors, images = source.with_fixed(factor, 40, generator, groups=25)
    assert factors.shape == (25, 40, 3)
    assert images.shape == (25, 40, *source.shape)
    assert torch.equal(classes_of(images.flatten(0, 1)).float(), factors.flatten(0, 1))
    spread = factors.amax(dim=1) - factors.amin(dim=1)
    assert (spread[:, factor] == 0).all()
    assert (spread.sum(dim=0) > 0).tolist() == [place != factor for place in range(3)]
    assert len(factors[:, 0, factor].unique()) > 1


def test_within_a_group_all_images_are_equally_likely(generator: torch.Generator) -> None:
    factors, _ = source_of(SOME, None).with_fixed(1, 20_000, generator)
    classes = GRID.classes(SOME)
    wanted = classes[classes[:, 1] == int(factors[0, 0, 1])]
    cells, counts = np.unique(factors[0].numpy(), axis=0, return_counts=True)
    assert len(cells) == len(wanted) > 1
    assert stats.chisquare(counts).pvalue > 0.01


def test_the_same_seed_gives_the_same_draws() -> None:
    source = source_of(SOME, UniformMoves(GRID))
    for draw in (
        lambda g: source.pairs(50, g),
        lambda g: source.with_factors(50, g),
        lambda g: source.with_fixed(2, 5, g, groups=3),
        lambda g: (source.sample(9, g),),
    ):
        first, second = (draw(torch.Generator().manual_seed(5)) for _ in range(2))
        assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_a_sample_has_each_image_once_at_most(generator: torch.Generator) -> None:
    source = source_of(SOME, None)
    assert len(classes_of(source.sample(1000, generator)).unique(dim=0)) == len(SOME) == len(source)


def test_bad_input(generator: torch.Generator) -> None:
    source = source_of(SOME, None)
    with pytest.raises(InputError, match="law must be given to draw pairs, got None"):
        source.pairs(2, generator)
    for factor in (-1, 3, True):
        with pytest.raises(InputError, match=f"factor must be a whole number from 0 to 2, got {factor}"):
            source.with_fixed(factor, 2, generator)
    with pytest.raises(InputError, match="2 images or more, got 1 of 1 images"):
        source_of(torch.tensor([3]), None)
