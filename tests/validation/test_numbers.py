from __future__ import annotations

import numpy as np
import pytest

from identica import select
from identica._checks import InputError
from identica.validation import NumberTried
from identica.validation.numbers import check_numbers, supported_number


def tried(number: int, behind: float, steady: int | None = None, used: int | None = None) -> NumberTried:
    steady = number if steady is None else steady
    return NumberTried(number, 3.0 - behind, (behind, 0.05), steady, number if used is None else used)


def test_the_fewest_that_are_as_good_are_supported() -> None:
    assert supported_number([tried(2, 1.0), tried(3, 0.05), tried(4, 0.0)]) == 3
    assert supported_number([tried(2, 1.0), tried(3, 0.3), tried(4, 0.0)]) == 4


def test_components_that_do_not_come_back_or_are_spare_support_nothing() -> None:
    assert supported_number([tried(2, 0.5), tried(3, 0.0, steady=2), tried(4, 0.0, used=3)]) == 2
    assert supported_number([tried(3, 0.0, steady=1)]) is None


def test_numbers_are_whole_and_not_above_the_features() -> None:
    assert check_numbers([4, 2, 2], 5) == (2, 4)
    with pytest.raises(InputError, match="numbers must be at most the number of features 5, got 6"):
        check_numbers([6], 5)
    with pytest.raises(InputError, match="numbers"):
        check_numbers([0], 5)


def test_select_compares_numbers_of_its_favourite() -> None:
    random = np.random.default_rng(0)
    factors = random.uniform(size=(3000, 2))
    moved = np.abs((factors + random.laplace(scale=0.05, size=factors.shape) + 1) % 2 - 1)
    matrix = random.normal(size=(2, 4))
    found = select(
        factors @ matrix,
        moved @ matrix,
        candidates=[("box", "laplace"), ("box", "normal")],
        numbers=[1, 2],
        n_components=2,
        encoder="linear",
        max_steps=120,
        batch_size=256,
        n_jobs=1,
    )
    assert [one.number for one in found.numbers] == [1, 2]
    assert found.number == 2
    assert "The pairs support 2 components" in found.verdict
    assert "2 components: " in str(found)
    assert found.summary()["number"] == 2
