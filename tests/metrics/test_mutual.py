from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cases import grid, noise, permuted_and_rescaled, turned
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from identica._checks import InputError
from identica.metrics import mig, modularity, mutual_information

Z = grid(4, 5)
CONTINUOUS = np.random.default_rng(0).uniform(size=(4000, 2))


@pytest.mark.parametrize("metric", [mig, modularity])
@pytest.mark.parametrize("codes", [Z, permuted_and_rescaled(Z), -Z], ids=["same", "permuted", "negated"])
def test_perfect_codes(metric: Any, codes: Any) -> None:
    assert metric(Z, codes).value == pytest.approx(1)


def test_by_hand() -> None:
    both = Z[:, 0] + 4 * Z[:, 1]  # one code for two factors: each of its 20 values has a bin
    assert mutual_information(Z, both) == pytest.approx(np.log([[4], [5]]))
    assert mig(Z, both).per_factor == pytest.approx((1, 1))  # the gap does not see it
    # 1 - I₁² / I₂², with the larger information that of the factor with five values
    assert modularity(Z, both).per_code == pytest.approx((1 - math.log(4) ** 2 / math.log(5) ** 2,))
    twice = Z[:, [0, 0, 1]]  # one factor in two codes
    assert mig(Z, twice).per_factor == pytest.approx((0, 1))
    assert modularity(Z, twice).value == pytest.approx(1)
    assert mig(Z, Z[:, :1]).per_factor == pytest.approx((1, 0))  # fewer codes than factors
    halves = np.stack([Z[:, 0] // 2, Z[:, 1]], axis=1)  # one bit of two
    assert mig(Z, halves).per_factor == pytest.approx((0.5, 1))


def test_information_agrees_with_entropies() -> None:
    z, h = Z, Z @ [[1, 2], [1, 0]] + np.round(noise(len(Z), 2))
    found = mutual_information(z, h, bins=10_000)

    def counted(*columns: Any) -> float:
        return float(entropy(np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)[1]))

    for k in range(2):
        for i in range(2):
            expected = counted(z[:, k]) + counted(h[:, i]) - counted(z[:, k], h[:, i])
            assert found[k, i] == pytest.approx(expected, abs=1e-9)


def test_dead_codes_cost_modularity_alone() -> None:
    dead = np.column_stack([Z, np.full((len(Z), 2), 7.0)])
    assert mig(Z, dead).value == pytest.approx(1)
    assert modularity(Z, dead).per_code == pytest.approx((1, 1, 0, 0))
    assert mig(Z, dead[:, 2:]).value == modularity(Z, dead[:, 2:]).value == 0


@pytest.mark.parametrize("seed", range(5))
def test_rounding_is_no_information(seed: int) -> None:
    z = np.random.default_rng(seed).integers(0, 6, size=(2000, 3))
    assert modularity(z, np.column_stack([z, np.ones((2000, 3))])).per_code[3:] == (0, 0, 0)  # type: ignore[index]
    assert (mutual_information(z, np.ones((2000, 1))) == 0).all()


def test_a_rotation_has_no_gap() -> None:
    assert mig(CONTINUOUS, CONTINUOUS).value > 0.95
    assert mig(CONTINUOUS, turned(CONTINUOUS)).value < 0.05
    assert modularity(CONTINUOUS, turned(CONTINUOUS)).value < 0.2


def test_noise_scores_as_chance_says() -> None:
    for metric in (mig, modularity):
        score = metric(Z, noise(len(Z), 8))
        assert score.value == pytest.approx(score.chance, abs=0.2 if metric is modularity else 0.02)
    assert mig(Z, noise(len(Z), 8)).value < 0.03


def test_circular_factors_wrap() -> None:
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, size=4000)
    moved = np.stack([angles, angles + 2 * np.pi * np.random.default_rng(1).integers(-1, 2, 4000)], axis=1)
    once, wrapped = (mutual_information(moved[:, [i]], angles, kinds=["circular"])[0, 0] for i in range(2))
    assert once == pytest.approx(wrapped, abs=1e-6) == pytest.approx(math.log(20), abs=0.05)
    # As a plain number, the factor that went round has other bins.
    assert mutual_information(moved[:, [1]], angles)[0, 0] < 0.9 * wrapped


def test_steps_of_a_turn_are_counted_as_they_are() -> None:
    steps = grid(40, 3, repeats=10)
    assert mig(steps, steps, kinds=["circular", "categorical"], bins=40).per_factor == pytest.approx((1, 1))


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**31))
def test_order_and_scale_of_codes_do_not_matter(seed: int) -> None:
    generator = np.random.default_rng(seed)
    z = generator.integers(0, 5, size=(200, 3))
    h = z @ generator.normal(size=(3, 4)) + generator.normal(size=(200, 4))
    changed = h[:, generator.permutation(4)] * generator.uniform(0.1, 10, 4) + 3
    for metric in (mig, modularity):
        assert metric(z, changed).value == pytest.approx(metric(z, h).value, abs=1e-9)


def test_large_samples_are_cut_by_the_seed() -> None:
    z = np.random.default_rng(0).integers(0, 4, size=(3000, 2))
    h = z + noise(3000, 2)
    assert mig(z, h, samples=500, seed=1) == mig(z, h, samples=500, seed=1)
    assert mig(z, h, samples=500, seed=1) != mig(z, h, samples=500, seed=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bins": 1}, "bins must be at least 2, got 1"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"kinds": ["ordinal"]}, "kinds must have one entry for each of the 2 factors, got 1"),
        ({"kinds": ["ordinal", "angle"]}, "unknown kind 'angle'"),
    ],
)
def test_bad_settings_are_named(settings: Any, message: str) -> None:
    for metric in (mig, modularity):
        with pytest.raises(InputError, match=message):
            metric(Z, Z, **settings)


def test_too_many_categories_are_refused() -> None:
    with pytest.raises(InputError, match="at most 100 distinct values, got 4000 in column 1"):
        mig(CONTINUOUS, CONTINUOUS, kinds=["continuous", "categorical"])
