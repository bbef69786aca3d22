from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Generator

from identica._checks import InputError
from identica.sources import ArrayPairs, lagged_pairs


def test_partners_come_from_the_pairs_alone(generator: Generator) -> None:
    indices = np.array([[0, 5], [3, 1]])
    first, second = ArrayPairs(torch.arange(6.0)[:, None], indices).pairs(50, generator)
    drawn = set(zip(first.flatten().tolist(), second.flatten().tolist(), strict=True))
    assert drawn == {(0.0, 5.0), (3.0, 1.0)}


def test_bytes_stay_bytes(generator: Generator) -> None:
    images = torch.zeros(4, 1, 2, 2, dtype=torch.uint8)
    assert ArrayPairs(images, [[0, 1]]).pairs(3, generator)[0].dtype == torch.uint8


@pytest.mark.parametrize("in_order", [True, False])
def test_a_split_parts_the_pairs(in_order: bool) -> None:
    source = ArrayPairs(torch.zeros(101, 1), lagged_pairs(101, 1))
    fitted, tested = source.split(0.2, in_order=in_order, seed=0)
    assert tested is not None
    assert (len(fitted), len(tested)) == (80, 20)
    first, second = fitted.indices.numpy(), tested.indices.numpy()
    assert sorted(np.concatenate([first, second])[:, 0]) == list(range(100))
    assert (first.max() <= second.min()) == in_order
    assert fitted.observations is tested.observations is source.observations
    everything, nothing = source.split(0.0, in_order=in_order, seed=0)
    assert (len(everything), nothing) == (100, None)
    with pytest.raises(InputError, match="held_out must be a part"):
        source.split(1.0, in_order=in_order, seed=0)


def test_distinct_pairs_come_once(generator: Generator) -> None:
    source = ArrayPairs(torch.arange(101.0)[:, None], lagged_pairs(101, 1))
    first, second = source.distinct_pairs(1000, generator)
    assert sorted(first.flatten().tolist()) == list(range(100))
    assert torch.equal(second, first + 1)
    assert len(source.distinct_pairs(7, generator)[0].unique()) == 7


def test_single_observations_come_once(generator: Generator) -> None:
    source = ArrayPairs(torch.arange(50.0)[:, None], [[0, 1]])
    assert source.shape == (1,)
    assert sorted(source.sample(60, generator).flatten().tolist()) == list(range(50))
    assert source.bounded_sample(5, generator).shape == (5, 1)


def test_partners_stay_within_a_trial() -> None:
    assert lagged_pairs(4, 2).tolist() == [[0, 2], [1, 3]]
    trials = ["a", "a", "a", "b", "b", "a", "a"]
    assert lagged_pairs(7, 1, trials).tolist() == [[0, 1], [1, 2], [3, 4], [5, 6]]
    assert lagged_pairs(7, 2, trials).tolist() == [[0, 2]]
