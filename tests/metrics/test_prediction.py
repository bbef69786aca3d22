from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import grid, noise, permuted_and_rescaled, turned

from identica._checks import InputError
from identica.metrics import explicitness, sap
from identica.metrics._linear import class_scores

Z = grid(4, 5, repeats=60)
BITS = grid(2, 2, repeats=200)
CONTINUOUS = np.random.default_rng(0).uniform(size=(3000, 2))
METRICS = pytest.mark.parametrize("metric", [explicitness, sap])


def test_classifiers_agree_with_another_solver() -> None:
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(0)
    x = generator.normal(size=(300, 3))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = (x @ generator.normal(size=(3, 3)) + generator.gumbel(size=(300, 3))).argmax(axis=1)
    oracle = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(x, y)
    ours = class_scores(x, np.eye(3)[y], x, loss="softmax")
    theirs = oracle.decision_function(x)
    assert ours - ours.mean(axis=1, keepdims=True) == pytest.approx(theirs - theirs.mean(axis=1)[:, None], abs=0.02)
    alone = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(x, y == 1).decision_function(x)
    assert class_scores(x, np.eye(3)[y], x, loss="each")[:, 1] == pytest.approx(alone, abs=0.02)


@pytest.mark.parametrize("codes", [BITS, permuted_and_rescaled(BITS), turned(BITS)], ids=["same", "permuted", "turned"])
def test_explicitness_of_two_values_does_not_care_for_axes(codes: Any) -> None:
    assert explicitness(BITS, codes).value == pytest.approx(1)


def test_explicitness_of_ordered_values_by_hand() -> None:
    # One against the rest along a line: the ends are told apart, the middle of three is not. (1 + 0 + 1) / 3
    three = grid(3, repeats=500)
    assert explicitness(three, three).value == pytest.approx(2 / 3, abs=0.03)
    # With an indicator for each value all of them are.
    assert explicitness(three, np.eye(3)[three[:, 0].astype(int)]).value == pytest.approx(1)


def test_explicitness_takes_all_codes_together() -> None:
    both = BITS[:, :1] + 2 * BITS[:, 1:]  # one code for two factors
    assert explicitness(BITS, both).per_factor[1] == pytest.approx(1)
    assert explicitness(BITS, both).per_factor[0] == pytest.approx(0.5, abs=0.1)
    assert explicitness(BITS, BITS[:, [0]]).per_factor == pytest.approx((1, 0), abs=0.12)  # fewer codes than factors
    assert explicitness(BITS, np.column_stack([BITS, np.ones(len(BITS))])).value == pytest.approx(1)  # a dead code


def test_sap_by_hand() -> None:
    # One value of four is right for every code that knows nothing, so the gap is 3/4; then 4/5.
    assert sap(Z, Z).per_factor == pytest.approx((3 / 4, 4 / 5), abs=0.06)
    assert sap(Z, permuted_and_rescaled(Z)).value == pytest.approx(sap(Z, Z).value)
    assert sap(Z, Z[:, [0, 0, 1]]).per_factor == pytest.approx((0, 4 / 5), abs=0.06)  # one factor in two codes
    assert sap(Z, Z[:, [0]]).per_factor == pytest.approx((3 / 4, 0), abs=0.06)  # fewer codes than factors
    dead = np.column_stack([Z[:, 0], np.ones(len(Z))])
    assert sap(Z, dead).per_factor[0] == pytest.approx(3 / 4)  # the constant code is right for one value of four
    # A monotone map that bends changes nothing for values.
    assert sap(Z, np.exp(2 * Z)).value == pytest.approx(sap(Z, Z).value, abs=0.03)


def test_sap_of_numbers_is_a_gap_of_squared_correlations() -> None:
    assert sap(CONTINUOUS, CONTINUOUS).value == pytest.approx(1, abs=0.01)
    assert sap(CONTINUOUS, turned(CONTINUOUS)).value == pytest.approx(0, abs=0.1)
    assert sap(CONTINUOUS, CONTINUOUS[:, :1]).per_factor == pytest.approx((1, 0), abs=0.01)


def test_circular_factors_are_classified_in_bins() -> None:
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(3000, 1))
    assert sap(angles, np.column_stack([np.mod(angles, 2 * np.pi), np.ones(3000)]), kinds="circular").value > 0.9
    both = np.column_stack([np.sin(angles), np.cos(angles)])
    assert sap(angles, both, kinds="circular").value < 0.2
    assert explicitness(angles, both, kinds="circular").value > explicitness(angles, angles, kinds="circular").value


@METRICS
def test_noise_scores_as_chance_says(metric: Any) -> None:
    score = metric(Z, noise(len(Z), 4))
    assert score.value == pytest.approx(score.chance, abs=0.06)
    assert score.value < 0.08
    assert metric(Z, np.ones((len(Z), 3))).value == pytest.approx(0, abs=1e-9)


@METRICS
def test_the_seed_decides(metric: Any) -> None:
    codes = Z + noise(len(Z), 2)
    assert metric(Z, codes, seed=3) == metric(Z, codes, seed=3)
    assert metric(Z, codes, seed=3) != metric(Z, codes, seed=4)


@METRICS
def test_bad_input_is_named(metric: Any) -> None:
    with pytest.raises(InputError, match="at least 30 samples, got 20"):
        metric(Z[:20], Z[:20])
    with pytest.raises(InputError, match="train must be a whole number of at least 1, got 0"):
        metric(Z, Z, train=0)
    with pytest.raises(InputError, match="unknown kind 'round'"):
        metric(Z, Z, kinds="round")
