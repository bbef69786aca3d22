from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Generator

from identica._checks import InputError
from identica.processes import ArrayPairs, lagged_pairs


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
    assert (len(fitted), len(tested)) == (80, 20)
    assert sorted(np.concatenate([fitted, tested])[:, 0]) == list(range(100))
    assert (fitted.max() <= tested.min()) == in_order
    everything, nothing = source.split(0.0, in_order=in_order, seed=0)
    assert (len(everything), len(nothing)) == (100, 0)
    with pytest.raises(InputError, match="held_out must be a part"):
        source.split(1.0, in_order=in_order, seed=0)


def test_partners_stay_within_a_trial() -> None:
    assert lagged_pairs(4, 2).tolist() == [[0, 2], [1, 3]]
    trials = ["a", "a", "a", "b", "b", "a", "a"]
    assert lagged_pairs(7, 1, trials).tolist() == [[0, 1], [1, 2], [3, 4], [5, 6]]
    assert lagged_pairs(7, 2, trials).tolist() == [[0, 2]]
