from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group, spearmanr

from identica._checks import InputError
from identica.metrics import linear_r2, mcc

seeds = st.integers(0, 2**31)


def latents_and_codes(seed: int, samples: int = 60, factors: int = 4, outputs: int = 4) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    z = generator.normal(size=(samples, factors))
    h = z @ generator.normal(size=(factors, outputs)) + 0.5 * generator.normal(size=(samples, outputs))
    return z, h


@pytest.mark.parametrize("correlation", ["pearson", "spearman"])
@pytest.mark.parametrize(("factors", "outputs"), [(4, 4), (3, 6)])
def test_mcc_agrees_with_brute_force_over_permutations(correlation: Any, factors: int, outputs: int) -> None:
    for seed in range(5):
        z, h = latents_and_codes(seed, factors=factors, outputs=outputs)
        both = np.hstack([z, h])
        table = spearmanr(both).statistic if correlation == "spearman" else np.corrcoef(both.T)
        table = np.abs(table[:factors, factors:])
        orders = itertools.permutations(range(outputs), factors)
        best = max(np.mean([table[i, j] for i, j in enumerate(order)]) for order in orders)
        assert mcc(z, h, correlation=correlation, held_out=False).value == pytest.approx(best, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(seed=seeds)
def test_mcc_ignores_permutation_sign_and_scale(seed: int) -> None:
    z, h = latents_and_codes(seed)
    generator = np.random.default_rng(seed + 1)
    changed = h[:, generator.permutation(4)] * generator.choice([-1, 1], 4) * generator.uniform(0.1, 10, 4) + 3
    assert mcc(z, changed).value == pytest.approx(mcc(z, h).value, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(seed=seeds)
def test_r2_ignores_affine_maps(seed: int) -> None:
    z, h = latents_and_codes(seed)
    generator = np.random.default_rng(seed + 1)
    turned = h @ ortho_group.rvs(4, random_state=generator) @ np.diag(generator.uniform(0.5, 2, 4)) + 1
    assert linear_r2(z, turned).value == pytest.approx(linear_r2(z, h).value, abs=1e-8)


def test_r2_by_hand() -> None:
    z = np.array([0.0, 1.0, 2.0, 3.0])
    h = np.array([0.0, 1.0, 1.0, 2.0])
    # slope 1.5 about the means: residuals (0, 0, 0, 0) ± 0.5 at the two middle points
    assert linear_r2(z, h, held_out=False).value == pytest.approx(1 - 0.5 / 5)


def test_rotation_keeps_r2_and_breaks_mcc() -> None:
    generator = np.random.default_rng(0)
    z = generator.uniform(size=(2000, 6))
    turned = z @ ortho_group.rvs(6, random_state=1)
    assert linear_r2(z, turned).value == pytest.approx(1)
    assert mcc(z, turned).value < 0.9


def test_spearman_sees_through_monotone_maps() -> None:
    z = np.random.default_rng(0).normal(size=(300, 2))
    assert mcc(z, np.exp(3 * z), correlation="spearman").value == pytest.approx(1)
    assert mcc(z, np.exp(3 * z)).value < 0.9


def test_chance_is_what_random_codes_get() -> None:
    generator = np.random.default_rng(5)
    z, h = generator.normal(size=(400, 5)), generator.normal(size=(400, 30))
    assert mcc(z, h).value == pytest.approx(mcc(z, h).chance, abs=0.05)
    # Without held-out samples many outputs look good by luck; the chance level says so.
    assert mcc(z, h, held_out=False).chance > 2 * mcc(z, h).chance
    assert linear_r2(z, h).chance < 0.05
    assert linear_r2(z, h, held_out=False).chance == pytest.approx(30 / 399, abs=0.02)


def test_fewer_outputs_than_factors_count_as_misses() -> None:
    z = np.random.default_rng(0).normal(size=(200, 4))
    score = mcc(z, z[:, :2])
    assert score.value == pytest.approx(0.5)
    assert score.assignment == (0, 1, -1, -1)


def test_collapsed_codes_score_nothing() -> None:
    z = np.random.default_rng(0).normal(size=(200, 3))
    h = np.full((200, 3), 0.1)
    assert mcc(z, h).value == 0
    assert linear_r2(z, h).value == pytest.approx(0, abs=0.05)


def test_tensors_and_arrays_score_the_same() -> None:
    z, h = latents_and_codes(0)
    assert mcc(torch.tensor(z), torch.tensor(h, requires_grad=True)) == mcc(z, h)


@pytest.mark.parametrize(
    ("z", "h", "message"),
    [
        (np.zeros((10, 2)), np.zeros((9, 2)), "same number of samples, got 10 and 9"),
        (np.array([[math.nan], [1], [2], [3]]), np.zeros((4, 1)), "latents must be finite, got 1 NaN or infinite of 4"),
        (np.arange(4.0), np.array([1, 2, math.inf, 4]), "codes must be finite, got 1 NaN or infinite of 4"),
        (np.zeros((10, 2)), np.zeros((10, 2)), "latents must vary, but column 0 is constant"),
        (np.zeros((2, 3, 4)), np.zeros((2, 3)), "latents must have shape [samples, columns], got [2, 3, 4]"),
        (np.arange(3.0), np.arange(3.0), "at least 4 samples, got 3"),
        (["a", "b"], [1, 2], "latents must be numbers"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(z: Any, h: Any, message: str) -> None:
    for metric in (mcc, linear_r2):
        with pytest.raises(InputError) as caught:
            metric(z, h)
        assert message in str(caught.value)


def test_too_few_samples_for_a_fit_are_refused() -> None:
    with pytest.raises(InputError, match="codes with 10 columns need more than 10 samples to fit, got 10"):
        linear_r2(np.random.default_rng(0).normal(size=(20, 2)), np.ones((20, 10)))
    with pytest.raises(InputError, match="unknown correlation 'kendall'"):
        mcc([1.0, 2, 3, 4], [1.0, 2, 3, 4], correlation="kendall")  # type: ignore[arg-type]
