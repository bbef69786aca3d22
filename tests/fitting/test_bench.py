from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from identica import assembly
from identica.fitting import Attempt, Bench, Choice
from identica.fitting import bench as module
from identica.learners import Contrastive
from identica.metrics import mcc
from identica.models import Model
from identica.sources import LagPairing
from identica.spaces import Box

QUICK = Choice("linear", None, "none", 1, 4)


def attempt(bits: list[float] | None, fitted_bits: float | None = 0.0) -> Attempt:
    """An attempt of which only the bits matter."""
    return Attempt(QUICK, cast(Any, None), [], None if bits is None else torch.tensor(bits), fitted_bits, 1.23456)


def test_how_far_behind_is_told_on_the_same_pairs() -> None:
    first, second = attempt([1.0, 2.0, 3.0, 4.0]), attempt([2.0, 2.0, 5.0, 3.0])
    # Differences 1, 0, 2 and -1: their mean is 0.5, their variance 5 / 3.
    assert first.behind(second) == pytest.approx((0.5, math.sqrt(5 / 3 / 4)))
    assert second.behind(first) == pytest.approx((-0.5, math.sqrt(5 / 3 / 4)))
    assert first.behind(first) == (0, 0)


def test_what_all_pairs_have_in_common_is_no_error() -> None:
    bits = [0.0, 10.0, -20.0, 5.0]
    behind, error = attempt(bits).behind(attempt([one + 0.25 for one in bits]))
    assert (behind, error) == pytest.approx((0.25, 0))


@pytest.mark.parametrize(
    ("bits", "fitted", "overfits"),
    [(2.0, 2.1, False), (2.0, 2.5, True), (2.0, 1.0, False), (0.0, 0.04, False), (0.0, 0.06, True)],
)
def test_it_overfits_if_fitted_pairs_are_told_much_better(bits: float, fitted: float, overfits: bool) -> None:
    assert attempt([bits] * 4, fitted).overfits == overfits


def test_an_attempt_is_plain_data() -> None:
    described = attempt([1.0, 2.0], 1.75).describe()
    assert described == {
        **QUICK.describe(),
        "held_out_bits": 1.5,
        "fitted_bits": 1.75,
        "seconds": 1.2346,
    }
    assert "held_out_bits" not in attempt(None, None).describe()


def series(count: int) -> Tensor:
    random = np.random.default_rng(0)
    values = random.normal(size=(count, 2))
    for t in range(1, count):
        values[t] = 0.9 * values[t - 1] + 0.3 * values[t]
    return torch.from_numpy(values @ random.normal(size=(2, 4))).float()


def make_bench(**settings: Any) -> Bench:
    values = series(150)
    pairing = LagPairing(150, [2])
    rows = pairing.held_out(0.2, 4096, 0)
    runs = pairing.cut(rows)
    learner = Contrastive(Model(Box(2), "laplace", "free"))
    recipe = learner.recipe("fast")
    recipe = replace(recipe, training=replace(recipe.training, batch_size=32))
    fitted, held_out = pairing.pairs(~rows, runs), pairing.pairs(rows, runs)
    return Bench(learner, recipe, values, runs, fitted, held_out, seed=0, device="cpu", **settings)


def test_the_same_settings_are_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []

    def fit(*arguments: Any, **keywords: Any) -> Any:
        fits.append(1)
        return assembly.fit(*arguments, **keywords)

    monkeypatch.setattr(module, "assembly", type("", (), {"fit": staticmethod(fit)}))
    bench = make_bench()
    first, other, again = (bench.attempt(choice) for choice in (QUICK, replace(QUICK, steps=5), QUICK))
    assert first is again
    assert first is not other
    assert len(fits) == 2
    assert bench.attempts == [first, other]


def test_fitted_and_held_out_pairs_are_scored_and_the_loss_is_watched() -> None:
    heard: list[tuple[str, int, int]] = []
    bench = make_bench(listen=lambda network, step, steps, loss: heard.append((network, step, steps)))
    made = bench.attempt(QUICK)
    assert bench.held_out is not None
    assert made.bits is not None
    assert len(made.bits) == len(bench.held_out)
    assert made.fitted_bits is not None
    assert math.isfinite(made.fitted_bits)
    assert [point["step"] for point in made.curve] == [1, 2, 3, 4]
    assert all(math.isfinite(point["held_out_loss"]) for point in made.curve)
    assert heard == [("linear", step, 4) for step in (1, 2, 3, 4)]


def test_settings_reach_the_encoder() -> None:
    bench = make_bench()
    encoder = bench.attempt(Choice("deep mlp", 3, "robust", 2, 1)).learner.encoder
    assert tuple(encoder.backbone.widths) == (128,) * 4
    assert type(encoder.scaling).__name__ == "RobustScaling"
    assert int(torch.linalg.matrix_rank(encoder.whitening.matrix)) == 3
    assert encoder.whitening.matrix.shape == (8, 8), "two rows of four features"
    assert not tuple(bench.attempt(QUICK).learner.encoder.backbone.widths)


def test_widths_are_matched_on_held_out_pairs() -> None:
    bench = make_bench()
    made = bench.attempt(QUICK)
    before = made.learner.scales.clone()
    matched = bench.matched(made)
    assert matched is made.learner
    assert not torch.equal(matched.scales, before)


def test_linear_maps_may_begin_at_slow_features() -> None:
    choice = replace(QUICK, steps=1)
    codes = []
    for seed in (0, 1):
        for slow_start in (False, True):
            bench = make_bench(slow_start=slow_start)
            bench.seed = seed
            codes.append(bench.attempt(choice).learner.codes(bench.values).detach().double())
    (random, slow), (other_random, other_slow) = codes[:2], codes[2:]
    assert mcc(slow, other_slow).value > 0.99, "one step from the same start"
    assert mcc(random, other_random).value < 0.97


@pytest.mark.parametrize("choice", [replace(QUICK, network="mlp"), QUICK])
def test_where_a_fit_begins_concerns_linear_maps_alone(choice: Choice) -> None:
    plain, slow = (make_bench(slow_start=slow_start).attempt(choice).bits for slow_start in (False, True))
    assert plain is not None
    assert slow is not None
    assert torch.equal(plain, slow) == (choice.network == "mlp")


def test_other_seeds_have_the_same_pairs_and_other_weights() -> None:
    bench = make_bench()
    other = bench.with_seed(1)
    assert bench.with_seed(0) is bench
    first, second = bench.attempt(QUICK), other.attempt(QUICK)
    assert bench.attempts == [first]
    assert other.attempts == [second]
    assert bench.scored(QUICK.window) is other.scored(QUICK.window)
    weights = [dict(one.learner.encoder.backbone.named_parameters()) for one in (first, second)]
    assert any(not torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
