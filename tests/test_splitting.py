from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score

from identica import ContrastiveICA
from identica._checks import InputError
from identica.splitting import BlockSplit, time_blocks

RANDOM = np.random.default_rng(0)
X = np.cumsum(RANDOM.laplace(size=(300, 3)), axis=0) * 0.1
TRIALS = np.repeat(np.arange(10), 30)
QUICK = {"max_steps": 3, "batch_size": 32, "random_state": 0}


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@given(st.lists(st.integers(1, 30), min_size=5, max_size=20), st.integers(2, 5))
def test_folds_hold_whole_trials_in_order(lengths: list[int], folds: int) -> None:
    trials = np.repeat(np.arange(len(lengths)), lengths)
    found = list(BlockSplit(folds).split(trials, trials=trials))
    assert len(found) == folds
    assert np.array_equal(np.concatenate([test for _, test in found]), np.arange(len(trials)))
    for train, test in found:
        assert len(test) > 0
        assert not set(trials[train]) & set(trials[test])
        assert len(train) + len(test) == len(trials)


def test_rows_near_a_fold_are_left_out() -> None:
    train, test = list(BlockSplit(5, gap=4).split(X, groups=TRIALS))[2]
    assert (test.min(), test.max()) == (120, 179)
    assert not np.isin(train, np.arange(116, 184)).any()
    assert len(train) == 300 - 68


def test_one_long_series_is_cut_into_blocks() -> None:
    blocks = time_blocks(300, 20)
    assert np.bincount(blocks).tolist() == [15] * 20
    assert len(set(zip(time_blocks(300, 4, TRIALS), TRIALS, strict=True))) == time_blocks(300, 4, TRIALS).max() + 1
    with pytest.raises(InputError, match=r"pass trials=time_blocks\(len\(X\), 20\)"):
        next(BlockSplit(5).split(X))
    with pytest.raises(InputError, match="trials must be at least n_splits = 5, got 2"):
        next(BlockSplit(5).split(X, trials=np.arange(300) // 150))
    for wrong in ({"n_splits": 1}, {"gap": -1}):
        with pytest.raises(InputError):
            BlockSplit(**wrong)


@pytest.mark.usefixtures("routing")
def test_no_pair_of_a_search_goes_across_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    whole = ContrastiveICA.fit

    def fit(self: ContrastiveICA, *given: object, **named: object) -> ContrastiveICA:
        model = whole(self, *given, **named)
        seen.append(model.n_pairs_)
        return model

    monkeypatch.setattr(ContrastiveICA, "fit", fit)
    model = ContrastiveICA(2, lag=2, **QUICK).set_fit_request(trials=True).set_score_request(trials=True)
    search = GridSearchCV(model, {"space": ["box", "unbounded"]}, cv=BlockSplit(2), refit=False)
    search.fit(X, trials=TRIALS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert seen == [5 * 28] * 4


@pytest.mark.usefixtures("routing")
def test_index_pairs_are_cross_validated() -> None:
    rows = np.arange(300)
    pairs = np.stack([rows, (rows // 30) * 30 + (rows + 7) % 30])  # as long as X, within trials
    names = dict.fromkeys(("pairs", "rows"), True)
    model = ContrastiveICA(2, **QUICK).set_fit_request(**names, trials=False).set_score_request(**names, trials=False)
    given = {"pairs": pairs, "rows": rows, "trials": TRIALS}
    scores = cross_val_score(model, X, params=given, cv=BlockSplit(3), error_score="raise")
    assert np.isfinite(scores).all()
