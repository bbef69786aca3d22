from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from identica._checks import InputError
from identica.sources import IndexPairing, LabelPairing, LagPairing, Pairing, lagged_pairs, runs_of

Random = np.random.Generator
Rows = NDArray[np.bool_]


def two_arrays(random: Random) -> Pairing:
    """X and X_pos, one below the other."""
    count = int(random.integers(30, 200))
    return IndexPairing(2 * count, np.arange(2 * count).reshape(2, count).T)


def chains(random: Random) -> Pairing:
    """Chains of three to six rows, anywhere among the rows."""
    rows, chain = random.permutation(400), np.repeat(np.arange(400), random.integers(3, 7, size=400))[:400]
    linked = chain[1:] == chain[:-1]
    return IndexPairing(400, np.stack([rows[:-1][linked], rows[1:][linked]], axis=1))


def one_chain(random: Random) -> Pairing:
    """All rows hang together."""
    return IndexPairing(200, np.stack([np.arange(199), np.arange(1, 200)], axis=1))


def any_pairs(random: Random) -> Pairing:
    return IndexPairing(150, random.integers(0, 150, size=(int(random.integers(20, 400)), 2)))


def trials_of(random: Random, count: int) -> NDArray[np.int64]:
    """Trials of random lengths."""
    return np.repeat(np.arange(count), random.integers(5, 12, size=count))


def many_trials(random: Random) -> Pairing:
    trials = trials_of(random, 40)
    return LagPairing(len(trials), [int(random.integers(1, 4))], trials)


def few_trials(random: Random) -> Pairing:
    return LagPairing(300, [2], np.repeat(["a", "b", "c"], 100))


def one_trial(random: Random) -> Pairing:
    return LagPairing(int(random.integers(150, 400)), [int(random.integers(1, 3))])


def several_lags(random: Random) -> Pairing:
    trials = trials_of(random, 30)
    return LagPairing(len(trials), [1, 2, 4], trials)


def near_labels(random: Random) -> Pairing:
    return LabelPairing(random.normal(size=(200, 2)), seed=int(random.integers(100)))


def near_labels_of_trials(random: Random) -> Pairing:
    trials = trials_of(random, 30)
    return LabelPairing(random.normal(size=len(trials)), trials=trials)


def same_labels(random: Random) -> Pairing:
    return LabelPairing(random.integers(0, 3, size=200), seed=int(random.integers(100)))


def near_labels_in_time(random: Random) -> Pairing:
    return LabelPairing(random.normal(size=300), trials=np.repeat([0, 1], 150), within=3)


def same_labels_in_time(random: Random) -> Pairing:
    return LabelPairing(random.choice(["left", "right"], size=300), within=4)


KINDS: list[Callable[[Random], Pairing]] = [
    two_arrays,
    chains,
    one_chain,
    any_pairs,
    many_trials,
    few_trials,
    one_trial,
    several_lags,
    near_labels,
    near_labels_of_trials,
    same_labels,
    near_labels_in_time,
    same_labels_in_time,
]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(number=st.integers(0, 10**6), fraction=st.floats(0.1, 0.5))
def test_no_row_of_a_held_out_pair_is_in_a_fitted_one(
    kind: Callable[[Random], Pairing], number: int, fraction: float
) -> None:
    pairing = kind(np.random.default_rng(number))
    rows = pairing.held_out(fraction, 4096, number)
    runs = pairing.cut(rows)
    assert rows.shape == (pairing.count,)
    assert 0 < rows.sum() < pairing.count
    fitted, held_out = pairing.pairs(~rows, runs), pairing.pairs(rows, runs)
    assert not rows[fitted].any()
    assert rows[held_out].all()
    assert not np.intersect1d(fitted, held_out).size
    if not isinstance(pairing, LabelPairing):
        every = set(map(tuple, pairing.pairs().tolist()))
        assert set(map(tuple, np.concatenate([fitted, held_out]).tolist())) <= every
    if runs is not None and (isinstance(pairing, LagPairing) or getattr(pairing, "within", None)):
        for first, second in np.concatenate([fitted, held_out]).tolist():
            assert len(np.unique(runs[first : second + 1])) == 1, "what lies between two partners is on their side"
            assert len(np.unique(rows[first : second + 1])) == 1


@pytest.mark.parametrize("kind", [two_arrays, chains, many_trials])
def test_the_seed_decides_what_is_held_out(kind: Callable[[Random], Pairing]) -> None:
    pairing = kind(np.random.default_rng(0))
    first, same, other = (pairing.held_out(0.2, 4096, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_pairs_of_two_arrays_are_held_out_one_by_one() -> None:
    pairing = IndexPairing(2000, np.arange(2000).reshape(2, 1000).T)
    rows = pairing.held_out(0.15, 4096, 0)
    assert len(pairing.pairs(rows)) == 150
    assert len(pairing.pairs(~rows)) == 850
    assert np.array_equal(rows[:1000], rows[1000:])
    assert pairing.cut(rows) is None
    assert 100 < np.flatnonzero(rows[:1000]).mean() < 900, "from all over the rows"


@pytest.mark.parametrize("most", [10, 37])
def test_so_many_pairs_are_held_out_and_no_more(most: int) -> None:
    pairing = IndexPairing(2000, np.arange(2000).reshape(2, 1000).T)
    assert len(pairing.pairs(pairing.held_out(0.5, most, 0))) == most
    triples = np.arange(1500).reshape(500, 3)
    chained = IndexPairing(1500, np.concatenate([triples[:, :2], triples[:, 1:]]))
    rows = chained.held_out(0.5, most, 0)
    assert abs(len(chained.pairs(rows)) - most) <= 1, "no chain is broken"
    assert set(rows.reshape(500, 3).sum(axis=1)) == {0, 3}


def test_whole_trials_are_held_out_if_there_are_many() -> None:
    pairing = LagPairing(200, [1], np.repeat(np.arange(20), 10))
    rows = pairing.held_out(0.2, 4096, 0)
    assert sorted(rows.reshape(20, 10).sum(axis=1)) == [0] * 16 + [10] * 4
    assert len(pairing.pairs(rows, pairing.cut(rows))) == 4 * 9
    assert len(pairing.pairs(~rows, pairing.cut(rows))) == 16 * 9
    labelled = LabelPairing(np.linspace(0, 1, 200), trials=np.repeat(np.arange(20), 10))
    assert np.array_equal(labelled.held_out(0.2, 4096, 0), rows)


def test_of_one_series_the_ends_of_five_segments_are_held_out() -> None:
    pairing = LagPairing(100, [1])
    rows = pairing.held_out(0.2, 4096, 0)
    assert np.array_equal(rows.reshape(5, 20), np.tile(np.arange(20) >= 16, (5, 1)))
    runs = pairing.cut(rows)
    assert runs is not None
    assert np.array_equal(runs, np.repeat(np.arange(10), [16, 4] * 5))
    assert len(pairing.pairs(~rows, runs)) == 5 * 15
    assert len(pairing.pairs(rows, runs)) == 5 * 3


def test_of_few_trials_no_segment_goes_across_two() -> None:
    trials = np.repeat(["a", "b"], 50)
    rows = LagPairing(100, [1], trials).held_out(0.2, 4096, 0)
    segments = np.split(rows, [20, 40, 50, 60, 80])
    assert [segment.sum() for segment in segments] == [4, 4, 2, 2, 4, 4]
    assert all(np.all(np.diff(segment.astype(int)) >= 0) for segment in segments)


def test_several_lags_give_the_pairs_of_each() -> None:
    trials = np.repeat([0, 1], [10, 6])
    pairing = LagPairing(16, [1, 3], trials)
    assert np.array_equal(pairing.pairs(), np.concatenate([lagged_pairs(16, 1, trials), lagged_pairs(16, 3, trials)]))
    kept = np.arange(16) < 5
    assert pairing.pairs(kept).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [0, 3], [1, 4]]


def test_runs_go_up_where_a_trial_ends() -> None:
    assert runs_of(4, None).tolist() == [0, 0, 0, 0]
    assert runs_of(6, ["a", "a", "b", "b", "a", "a"]).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(0).integers(0, 5, size=100),
        np.random.default_rng(0).choice(["rest", "walk", "run"], size=100),
        np.random.default_rng(0).integers(0, 2, size=100).astype(bool),
        np.random.default_rng(0).integers(0, 3, size=(100, 2)),
    ],
    ids=["numbers", "names", "yes or no", "two columns"],
)
def test_partners_have_the_same_class(labels: NDArray[np.generic]) -> None:
    first, second = LabelPairing(labels).pairs().T
    assert np.array_equal(labels[first], labels[second])
    assert (first != second).all()
    assert np.array_equal(np.unique(first), np.arange(100))
    assert len(np.unique(second)) > 90, "no row is everybody's partner"


def test_a_class_of_one_row_has_no_pair() -> None:
    pairs = LabelPairing(["a", "b", "a", "c", "a"]).pairs()
    assert set(pairs.ravel()) == {0, 2, 4}


@pytest.mark.parametrize("columns", [1, 2])
def test_partners_are_among_the_nearest_labels(columns: int) -> None:
    labels = np.random.default_rng(0).normal(size=(300, columns))
    first, second = LabelPairing(labels[:, 0] if columns == 1 else labels).pairs().T
    points = labels / labels.std(axis=0)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    ranks = distances.argsort(axis=1).argsort(axis=1)
    assert ranks[first, second].min() >= 1
    assert ranks[first, second].max() <= 20
    assert np.array_equal(np.unique(first), np.arange(300))


def test_labels_have_no_units() -> None:
    labels = np.random.default_rng(0).normal(size=(100, 2))
    assert np.array_equal(LabelPairing(labels).pairs(), LabelPairing(labels * [1024, 0.5]).pairs())


def test_the_seed_draws_among_equal_labels() -> None:
    labels = np.repeat([0, 1], 50)
    first, same, other = (LabelPairing(labels, seed=seed).pairs() for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("continuous", [True, False])
def test_within_a_lag_the_partner_is_the_row_with_the_nearest_label(continuous: bool) -> None:
    random = np.random.default_rng(0)
    labels = random.normal(size=60) if continuous else random.integers(0, 3, size=60)
    trials = np.repeat([0, 1, 2], 20)
    found = dict(LabelPairing(labels, trials=trials, within=4).pairs().tolist())
    for row in range(60):
        later = [other for other in range(row + 1, min(row + 5, 60)) if trials[other] == trials[row]]
        later = [other for other in later if continuous or labels[other] == labels[row]]
        assert found.get(row) == min(later, key=lambda other: abs(labels[other] - labels[row]), default=None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IndexPairing(5, [[0, 1, 2]]), "pairs must be whole numbers of shape [pairs, 2], got int64 [1, 3]"),
        (lambda: IndexPairing(5, [[0.0, 1.0]]), "pairs must be whole numbers of shape [pairs, 2], got float64 [1, 2]"),
        (lambda: IndexPairing(5, np.empty((0, 2), int)), "pairs must hold at least one pair, got none"),
        (lambda: IndexPairing(5, [[0, 5]]), "pairs must index the 5 samples from 0, got 0 to 5"),
        (lambda: IndexPairing(5, [[-1, 2]]), "pairs must index the 5 samples from 0, got -1 to 2"),
        (lambda: LagPairing(5, [1, 5]), "lag must be below the number of samples 5, got 5"),
        (lambda: LagPairing(5, [0]), "lag must be a whole number of at least 1, got 0"),
        (lambda: LagPairing(4, [2], [0, 0, 1, 1]), "no trial is longer than the lag of 2 samples"),
        (lambda: LagPairing(4, [1], [0, 0, 1]), "trials must hold one label for each of the 4 samples, got [3]"),
        (lambda: LabelPairing([0.5, np.nan]), "labels must be finite, got missing or infinite values"),
        (lambda: LabelPairing(np.zeros((3, 2, 2))), "labels must be [samples] or [samples, k], got [3, 2, 2]"),
        (lambda: LabelPairing(np.arange(3).astype("M8[D]")), "labels must be numbers or names, got datetime64[D]"),
        (lambda: LabelPairing([0, 1], trials=[0]), "trials must hold one label for each of the 2 samples, got [1]"),
        (lambda: LabelPairing([0, 1, 2]).pairs(), "labels leave no pairs: no two rows have the same label"),
        (lambda: LabelPairing([0.0, 1.0], within=1, trials=[0, 1]).pairs(), "labels leave no pairs"),
    ],
)
def test_bad_pairings_get_one_line(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
