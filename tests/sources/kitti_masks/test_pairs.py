from __future__ import annotations

import pytest
import torch
from kitti_files import squares

from identica._checks import InputError
from identica.sources.kitti_masks import MaskPairs, MaskSequences


def places(masks: torch.Tensor) -> torch.Tensor:
    """Row and column of the corner of each square."""
    return torch.stack([masks[:, 0].amax(2).argmax(1), masks[:, 0].amax(1).argmax(1)], dim=1)


@pytest.mark.parametrize("max_lag", [1, 3])
def test_partners_are_some_frames_later_in_one_sequence(max_lag: int, generator: torch.Generator) -> None:
    source = MaskPairs(squares([2, 5, 9]), max_lag)
    assert len(source) == 1 + 4 + 8
    first, second = (places(half) for half in source.pairs(2000, generator))
    assert torch.equal(first[:, 0], second[:, 0])
    lags = second[:, 1] - first[:, 1]
    assert lags.unique().tolist() == list(range(1, max_lag + 1))
    counts = torch.bincount(first[:, 0])
    assert counts.float() / 2000 == pytest.approx(torch.tensor([1, 4, 8]) / 13, abs=0.04)
    inside = lags[(first[:, 0] == 2) & (first[:, 1] < 5)]
    assert torch.bincount(inside)[1:].float() / len(inside) == pytest.approx(torch.ones(max_lag) / max_lag, abs=0.06)


def test_distinct_pairs_have_different_anchors(generator: torch.Generator) -> None:
    source = MaskPairs(squares([3, 5]), 2)
    first, _ = source.distinct_pairs(100, generator)
    assert len(places(first).unique(dim=0)) == len(first) == 6


def test_factors_are_those_of_the_masks(generator: torch.Generator) -> None:
    source = MaskPairs(squares([3, 5]))
    assert [factor.name for factor in source.factors] == ["y", "x", "area"]
    factors, masks = source.with_factors(100, generator)
    assert masks.shape == (8, 1, 64, 64)
    assert masks.dtype == factors.dtype == torch.float32
    assert torch.equal(factors[:, :2] - 3.5, places(masks).float())
    assert (factors[:, 2] == 64).all()


def test_what_is_held_out_is_never_trained_on(generator: torch.Generator) -> None:
    source = MaskPairs(squares([3, 4, 5]), 1, torch.tensor([0, 2]))
    held_out = source.held_out()
    assert held_out is not None
    seen = {
        "pairs": places(torch.cat(source.pairs(300, generator))),
        "sample": places(source.sample(100, generator)),
        "factors": places(source.with_factors(100, generator)[1]),
    }
    assert all(found[:, 0].unique().tolist() == [0, 2] for found in seen.values())
    assert places(held_out.with_factors(100, generator)[1])[:, 0].unique().tolist() == [1]
    assert places(source.whole().sample(100, generator))[:, 0].unique().tolist() == [0, 1, 2]
    assert source.whole().held_out() is None


def test_steps_are_over_the_whole_lag() -> None:
    assert MaskPairs(squares([2, 6]), 3).steps().tolist() == [[0.0, 3.0, 0.0]] * 3


def test_bad_sequences_are_refused() -> None:
    good = squares([3, 4])
    with pytest.raises(InputError, match="max_lag must be a whole number of at least 1, got 0"):
        MaskPairs(good, 0)
    with pytest.raises(InputError, match=r"sequences must have frames with a next one, got none in 1 of them"):
        MaskPairs(squares([1]))
    with pytest.raises(InputError, match="lengths must be at least 1 and add up to 7 frames, got 6"):
        MaskSequences(good.images, good.factors, torch.tensor([3, 3]), good.tracks)
    with pytest.raises(InputError, match=r"factors must have shape \[7, 3\]"):
        MaskSequences(good.images, good.factors[1:], good.lengths, good.tracks)
    with pytest.raises(InputError, match="tracks must be 2, one a sequence"):
        MaskSequences(good.images, good.factors, good.lengths, torch.zeros(3))
