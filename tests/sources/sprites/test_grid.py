from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from identica._checks import InputError
from identica.sources import Factor
from identica.sources.sprites import Grid

X, Y, Z = (Factor(name, "ordinal") for name in "xyz")


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(2, 6), min_size=1, max_size=4))
def test_places_and_classes_are_numpys_ravelled_indices(sizes: list[int]) -> None:
    grid = Grid(tuple(Factor(f"{place}") for place in range(len(sizes))), tuple(sizes))
    places = torch.arange(grid.count)
    classes = grid.classes(places)
    assert np.array_equal(classes.numpy(), np.stack(np.unravel_index(places.numpy(), sizes), axis=1))
    assert torch.equal(grid.places(classes), places)


def test_a_part_keeps_the_values_that_occur() -> None:
    whole = Grid((X, Y), (10, 8))
    there = torch.tensor([[0, 7], [4, 1], [8, 7], [4, 7]])
    part = whole.part(there)
    assert part.kept == ((0, 4, 8), (1, 7))
    assert part.whole == (10, 8)
    assert (part.sizes, part.count) == ((3, 2), 6)
    assert part.from_whole(there).tolist() == [[0, 1], [1, 0], [2, 1], [1, 1]]
    assert part.marks(0).tolist() == [0, 4, 8]


@pytest.mark.parametrize(("sizes", "words"), [((3,), "each of 2 factors"), ((3, 1), "2 values or more, got 3, 1")])
def test_bad_grids(sizes: tuple[int, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Grid((X, Y), sizes)
