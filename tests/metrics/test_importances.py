from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import grid, noise, permuted_and_rescaled, turned

from identica._checks import InputError
from identica.metrics import dci
from identica.metrics._trees import boost

Z = grid(4, 5, repeats=30)
CONTINUOUS = np.random.default_rng(0).uniform(size=(1500, 2))
ROUNDS = 30


def values(found: Any) -> list[float]:
    return [score.value for score in found]


def test_trees_agree_with_another_implementation() -> None:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    generator = np.random.default_rng(0)
    x = generator.integers(0, 30, size=(600, 4)).astype(float)  # each value has a bin, so that splits are the same
    smooth = np.sin(x[:, 0] / 5) + 0.1 * x[:, 1] + 0.3 * generator.normal(size=600)
    theirs = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(x, smooth)
    ours = boost(x, smooth[:, None], x, loss="squares", rounds=20)
    assert ours.importances == pytest.approx(theirs.feature_importances_, abs=5e-3)
    assert ours.predicted[:, 0] == pytest.approx(theirs.predict(x), abs=0.02)
    classes = np.digitize(smooth, [0.5, 1.5, 2.5])
    oracle = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x, classes)
    found = boost(x, np.eye(4)[classes], x, loss="classes", rounds=20)
    assert found.importances == pytest.approx(oracle.feature_importances_, abs=0.02)
    assert (found.predicted.argmax(axis=1) == oracle.predict(x)).mean() > 0.97


@pytest.mark.parametrize("codes", [Z, permuted_and_rescaled(Z), -Z], ids=["same", "permuted", "negated"])
def test_perfect_codes(codes: Any) -> None:
    assert values(dci(Z, codes, rounds=ROUNDS)) == pytest.approx([1, 1, 1], abs=0.01)


def test_continuous_and_circular_factors() -> None:
    assert values(dci(CONTINUOUS, CONTINUOUS, rounds=60)) == pytest.approx([1, 1, 1], abs=0.03)
    angles = np.pi * (2 * CONTINUOUS - 1)
    points = np.column_stack([np.sin(angles), np.cos(angles)])
    found = dci(angles, points, rounds=60, kinds="circular")
    assert found.informativeness.value > 0.97
    assert found.disentanglement.value > 0.95  # each code is of one angle
    assert found.completeness.value == pytest.approx(0.5, abs=0.05)  # and each angle in two codes of four


def test_a_rotation_mixes() -> None:
    found = dci(CONTINUOUS, turned(CONTINUOUS), rounds=ROUNDS)
    assert found.disentanglement.value < 0.1
    assert found.completeness.value < 0.1
    assert found.informativeness.value > 0.8


def test_one_code_for_two_factors() -> None:
    codes = np.column_stack([Z[:, 0] + 4 * Z[:, 1], np.ones(len(Z))])
    found = dci(Z, codes, rounds=ROUNDS)
    assert found.disentanglement.per_code == pytest.approx((0, 0), abs=1e-6)  # the dead code matters for nothing
    assert found.completeness.value == pytest.approx(1)
    assert found.informativeness.value > 0.9


def test_one_factor_in_two_codes() -> None:
    bits = np.column_stack([Z[:, 0] // 2, Z[:, 0] % 2, Z[:, 1]])
    found = dci(Z, bits, rounds=ROUNDS)
    assert found.disentanglement.value == pytest.approx(1, abs=0.01)
    # Half of the importance each: 1 - log 2 / log 3
    assert found.completeness.per_factor == pytest.approx((1 - np.log(2) / np.log(3), 1), abs=0.02)


def test_dead_and_missing_codes() -> None:
    assert values(dci(Z, np.column_stack([Z, np.ones((len(Z), 2))]), rounds=ROUNDS)) == pytest.approx([1] * 3, abs=0.01)
    dead = dci(Z, np.ones((len(Z), 2)), rounds=3)
    assert values(dead)[:2] == [0, 0]
    assert dead.informativeness.value < 0.3
    fewer = dci(Z, Z[:, :1], rounds=ROUNDS)
    assert fewer.informativeness.per_factor == pytest.approx((1, 0.2), abs=0.1)


def test_noise_scores_as_chance_says() -> None:
    for score in dci(Z, noise(len(Z), 4), rounds=ROUNDS):
        assert score.value == pytest.approx(score.chance, abs=0.06)


def test_the_seed_decides() -> None:
    codes = Z + noise(len(Z), 2)
    assert dci(Z, codes, rounds=3, seed=3) == dci(Z, codes, rounds=3, seed=3)
    assert dci(Z, codes, rounds=3, seed=3) != dci(Z, codes, rounds=3, seed=4)


def test_pinned() -> None:
    found = dci(Z, Z @ [[1.0, 0.5], [0.0, 1.0]] + 0.3 * noise(len(Z), 2), rounds=20)
    assert values(found) == pytest.approx(PINNED, abs=0.02)


PINNED = [0.521, 0.536, 0.878]


@pytest.mark.parametrize("name", ["train", "test", "rounds"])
def test_bad_settings_are_named(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be a whole number of at least 1, got 0"):
        dci(Z, Z, **{name: 0})
    with pytest.raises(InputError, match="at least 30 samples, got 10"):
        dci(Z[:10], Z[:10])
