from __future__ import annotations

import numpy as np
import pytest
import torch

from identica.sources import LagPairing, runs_of, stack_windows

SERIES = torch.arange(6.0)[:, None]


def test_an_odd_window_has_as_many_rows_before_as_after() -> None:
    assert stack_windows(SERIES, runs_of(6, None), 3).tolist() == [
        [0, 0, 1],
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
        [4, 5, 5],
    ]


def test_an_even_window_has_one_row_more_before() -> None:
    assert stack_windows(SERIES, runs_of(6, None), 2).tolist() == [[0, 0], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert stack_windows(SERIES, runs_of(6, None), 4)[2:5].tolist() == [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]


def test_no_window_leaves_its_run() -> None:
    found = stack_windows(SERIES, runs_of(6, ["a", "a", "b", "a", "a", "a"]), 3)
    assert found.tolist() == [[0, 0, 1], [0, 1, 1], [2, 2, 2], [3, 3, 4], [3, 4, 5], [4, 5, 5]]


def test_a_window_may_be_longer_than_a_run() -> None:
    assert stack_windows(SERIES[:2], runs_of(2, None), 5).tolist() == [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]]


def test_features_of_a_row_stay_together() -> None:
    values = torch.arange(6.0).reshape(3, 2)
    assert stack_windows(values, runs_of(3, None), 2).tolist() == [[0, 1, 0, 1], [0, 1, 2, 3], [2, 3, 4, 5]]


def test_a_window_of_one_row_is_the_series_itself() -> None:
    assert stack_windows(SERIES, runs_of(6, None), 1) is SERIES


@pytest.mark.parametrize("window", [2, 5, 8])
@pytest.mark.parametrize("trials", [1, 30])
def test_windows_of_fitted_rows_show_no_held_out_row(window: int, trials: int) -> None:
    pairing = LagPairing(300, [5], np.repeat(np.arange(trials), 300 // trials))
    rows = pairing.held_out(0.2, 4096, 0)
    runs = pairing.cut(rows)
    assert runs is not None
    seen = stack_windows(torch.from_numpy(rows)[:, None], runs, window)
    assert torch.equal(seen.any(dim=1), torch.from_numpy(rows))
    assert torch.equal(seen.all(dim=1), torch.from_numpy(rows))
