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


def test_distinct_pairs_come_once(generator: Generator) -> None:
    source = ArrayPairs(torch.arange(101.0)[:, None], lagged_pairs(101, 1))
    first, second = source.distinct_pairs(1000, generator)
    assert sorted(first.flatten().tolist()) == list(range(100))
    assert torch.equal(second, first + 1)
    assert len(source.distinct_pairs(7, generator)[0].unique()) == 7


def test_single_observations_of_pairs_come_once(generator: Generator) -> None:
    source = ArrayPairs(torch.arange(50.0)[:, None], [[0, 1], [1, 7], [30, 0]])
    assert source.shape == (1,)
    assert sorted(source.sample(60, generator).flatten().tolist()) == [0, 1, 7, 30], "no row without a partner"
    assert source.bounded_sample(3, generator).shape == (3, 1)


def test_bad_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="pairs must index the 5 samples from 0, got 0 to 5"):
        ArrayPairs(torch.zeros(5, 1), [[0, 5]])


def test_partners_stay_within_a_trial() -> None:
    assert lagged_pairs(4, 2).tolist() == [[0, 2], [1, 3]]
    trials = ["a", "a", "a", "b", "b", "a", "a"]
    assert lagged_pairs(7, 1, trials).tolist() == [[0, 1], [1, 2], [3, 4], [5, 6]]
    assert lagged_pairs(7, 2, trials).tolist() == [[0, 2]]
