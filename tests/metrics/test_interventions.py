from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from cases import grid, noise, permuted_and_rescaled, turned

from identica._checks import InputError
from identica.metrics import beta_vae, beta_vae_of_draws, factor_vae, factor_vae_of_draws, fixing

FEW = {"train": 400, "test": 400}
Z = grid(4, 5, 6, repeats=10)
CONTINUOUS = np.random.default_rng(0).uniform(size=(4000, 2))
METRICS = pytest.mark.parametrize("metric", [beta_vae, factor_vae])


@METRICS
@pytest.mark.parametrize("codes", [Z, permuted_and_rescaled(Z), -Z], ids=["same", "permuted", "negated"])
def test_perfect_codes(metric: Any, codes: Any) -> None:
    score = metric(Z, codes, **FEW)
    assert score.value == 1
    assert score.per_factor == (1, 1, 1)
    assert score.chance == pytest.approx(1 / 3, abs=0.1)


@METRICS
def test_a_rotation_tells_nothing_of_which_factor_is_fixed(metric: Any) -> None:
    assert metric(CONTINUOUS, CONTINUOUS, **FEW).value == 1
    assert metric(CONTINUOUS, turned(CONTINUOUS), **FEW).value == pytest.approx(0.5, abs=0.12)


@METRICS
def test_noise_scores_as_chance_says(metric: Any) -> None:
    score = metric(Z, noise(len(Z), 5), **FEW)
    assert score.value == pytest.approx(1 / 3, abs=0.12)


@METRICS
def test_dead_codes_cost_nothing(metric: Any) -> None:
    assert metric(Z, np.column_stack([Z, np.full((len(Z), 3), 7.0)]), **FEW).value == 1


def test_codes_that_are_all_dead_score_no_more_than_chance() -> None:
    dead = np.ones((len(Z), 2))
    assert factor_vae(Z, dead, **FEW).value == 0
    assert beta_vae(Z, dead, **FEW).value == pytest.approx(1 / 3, abs=0.05)


@METRICS
def test_one_factor_in_two_codes_costs_nothing(metric: Any) -> None:
    assert metric(Z, Z[:, [0, 0, 1, 2]], **FEW).value == 1


def test_one_code_for_two_factors() -> None:
    codes = np.stack([Z[:, 0] + 4 * Z[:, 1], Z[:, 2]], axis=1)
    # The shared code stands for the factor that it follows most, so votes on the other are lost.
    assert factor_vae(Z, codes, **FEW).value == pytest.approx(2 / 3, abs=0.15)
    # How much the shared code moves tells a linear classifier which of the two is fixed: BetaVAE misses this.
    assert beta_vae(Z, codes, **FEW).value > 0.95


def test_fewer_codes_than_factors() -> None:
    assert factor_vae(Z, Z[:, :2], **FEW).value == pytest.approx(2 / 3, abs=0.15)


def test_codes_that_hardly_vary_are_left_out() -> None:
    faint = np.column_stack([Z, 1e-3 * noise(len(Z), 1)])
    assert factor_vae(Z, faint, **FEW).value == factor_vae(Z, 1e-4 * faint, **FEW).value == 1
    assert factor_vae(Z[:, :2], 1e-3 * Z[:, :2] + [0, 5], **FEW, prune=0.9).value < 1


def test_circular_factors_are_fixed_on_the_circle() -> None:
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(4000, 2))
    codes = np.column_stack([np.sin(angles), np.cos(angles)])
    for metric in (beta_vae, factor_vae):
        assert metric(angles, codes, kinds="circular", **FEW).value > 0.97


def test_factors_can_be_drawn_and_fixed_exactly() -> None:
    def sample(count: int, generator: np.random.Generator) -> Any:
        return generator.uniform(size=(count, 3))

    def encode(factors: Any) -> torch.Tensor:
        return torch.from_numpy(factors[:, [2, 0, 1]] * [1.0, -2.0, 3.0])

    draw = fixing(sample, encode)
    for metric in (beta_vae_of_draws, factor_vae_of_draws):
        score = metric(draw, 3, **FEW)
        assert score.value == 1
        assert score == metric(draw, 3, **FEW)


def test_a_draw_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(InputError, match=r"draw must give codes of shape \[10000, 1, outputs\], got \[10000, 3\]"):
        factor_vae_of_draws(lambda factor, groups, size, generator: np.zeros((groups, 3)), 3)
    with pytest.raises(InputError, match="draw must give finite codes"):
        beta_vae_of_draws(lambda factor, groups, size, generator: np.full((groups, size, 1), np.nan), 3)


@METRICS
def test_the_seed_decides(metric: Any) -> None:
    codes = Z + noise(len(Z), 3)
    assert metric(Z, codes, **FEW, seed=3) == metric(Z, codes, **FEW, seed=3)
    assert metric(Z, codes, **FEW, seed=3) != metric(Z, codes, **FEW, seed=4)


@METRICS
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": 0}, "train must be a whole number of at least 1, got 0"),
        ({"test": -1}, "test must be a whole number of at least 1, got -1"),
        ({"batch": 1}, "batch must be at least 2, got 1"),
        ({"kinds": ["ordinal"] * 4}, "kinds must have one entry for each of the 3 factors, got 4"),
    ],
)
def test_bad_settings_are_named(metric: Any, settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metric(Z, Z, **settings)


def test_samples_must_share_values() -> None:
    with pytest.raises(InputError, match="in column 0 no two do"):
        beta_vae(np.arange(9.0), np.arange(9.0), kinds="categorical")
