from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from identica.fitting import SEED_OF_TRIALS, Attempt, Bench, Choice, Options, search
from identica.learners import Contrastive
from identica.models import Model
from identica.sources import IndexPairing
from identica.spaces import Real

NETWORKS = ("linear", "mlp", "deep mlp")
# What one pair has more than another, whatever the settings; and what settings differ by from pair to pair.
COMMON, NOISE = torch.randn(2, 400, generator=torch.Generator().manual_seed(0)) * torch.tensor([[5.0], [1.0]])
NOISE = (NOISE - NOISE.mean()) / NOISE.std()


class Scripted:
    """A bench that fits nothing: bits are a function of the settings."""

    def __init__(self, held_out: Callable[[Choice], float], fitted: Callable[[Choice], float] | None = None) -> None:
        self.bits, self.fitted = held_out, fitted or held_out
        self.attempts: list[Attempt] = []
        self.noise: dict[int | None, Tensor] = {}
        self.seed = SEED_OF_TRIALS

    def with_seed(self, seed: int) -> Scripted:
        if seed == self.seed:
            return self
        other = copy.copy(self)
        other.seed, other.attempts = seed, []
        return other

    def attempt(self, choice: Choice) -> Attempt:
        for earlier in self.attempts:
            if earlier.choice == choice:
                return earlier
        noise = NOISE if choice.network == "linear" else -NOISE
        noise = noise + self.noise.get(choice.directions, 0)
        bits = self.bits(choice) + COMMON - COMMON.mean() + noise
        self.attempts.append(Attempt(choice, cast(Any, None), [], bits, self.fitted(choice), 0.0))
        return self.attempts[-1]

    @property
    def tried(self) -> list[Choice]:
        return [one.choice for one in self.attempts]


def searched(bench: Scripted, options: Options) -> Choice:
    return search(cast(Bench, bench), options).choice


PLAIN = Options(NETWORKS, (None,), ("none",), (1,), (10, 20, 40, 80))
# Two attempts of different networks differ by 2 · NOISE: with 400 pairs, the standard error is 0.1.
ERROR = 0.1


def by_heart(choice: Choice) -> float:
    """Bits of fitted pairs that were learnt by heart, whatever the settings."""
    return 100.0


@pytest.mark.parametrize(("ahead", "expected"), [(0.5 * ERROR, "linear"), (3 * ERROR, "mlp"), (-1.0, "linear")])
def test_a_larger_network_must_be_ahead_by_more_than_twice_the_standard_error(ahead: float, expected: str) -> None:
    bench = Scripted(lambda choice: 2 + {"linear": 0.0, "mlp": ahead}[choice.network], by_heart)
    assert searched(bench, replace(PLAIN, networks=("linear", "mlp"))).network == expected


@pytest.mark.parametrize(("ahead", "expected"), [(0.0, "mlp"), (0.5 * ERROR, "mlp"), (1.0, "deep mlp")])
def test_so_must_the_largest(ahead: float, expected: str) -> None:
    bench = Scripted(lambda choice: 2 + {"linear": -5.0, "mlp": 0.0, "deep mlp": ahead}[choice.network])
    assert searched(bench, PLAIN).network == expected


def test_a_network_that_overfits_is_made_smaller_and_one_that_does_not_larger() -> None:
    overfitting = Scripted(lambda choice: 1.0, by_heart)
    assert searched(overfitting, PLAIN).network == "linear"
    assert {choice.network for choice in overfitting.tried} == {"linear", "mlp"}
    assert overfitting.tried[0].network == "mlp", "the middle one tells which way to go"
    sound = Scripted(lambda choice: float(NETWORKS.index(choice.network)))
    assert searched(sound, PLAIN).network == "deep mlp"
    assert {choice.network for choice in sound.tried} == {"mlp", "deep mlp"}


def test_the_leader_alone_has_the_long_schedule() -> None:
    bench = Scripted(lambda choice: choice.steps / 80 + (choice.scaling == "sqrt"))
    leader = Choice("mlp", None, "sqrt", 1, 80)
    assert searched(bench, replace(PLAIN, networks=("linear", "mlp"), scalings=("none", "sqrt"))) == leader
    assert [choice for choice in bench.tried if choice.steps == 80] == [leader]
    assert {choice.steps for choice in bench.tried} == {20, 80}


def test_if_the_long_schedule_is_too_long_those_between_are_tried() -> None:
    bench = Scripted(lambda choice: {10: 0.0, 20: 1.0, 40: 2.0, 80: -1.0}[choice.steps])
    found = searched(bench, replace(PLAIN, networks=("mlp",)))
    assert found.steps == 40
    assert [choice.steps for choice in bench.tried] == [20, 80, 40]


def test_if_even_the_first_schedule_is_too_long_a_shorter_one_is_tried() -> None:
    bench = Scripted(lambda choice: -float(choice.steps), by_heart)
    found = searched(bench, replace(PLAIN, networks=("mlp",)))
    assert found.steps == 10
    assert 80 not in [choice.steps for choice in bench.tried], "it overfits, so the longest would too"


@pytest.mark.parametrize("fitted", [None, by_heart])
def test_the_choice_is_of_the_trials_and_the_fit_has_the_seed_of_the_bench(fitted: Any) -> None:
    trials, own = (Scripted(lambda choice: choice.steps / 80 + (choice.scaling == "sqrt"), fitted) for _ in range(2))
    own.seed = SEED_OF_TRIALS + 1
    options = replace(PLAIN, networks=("linear", "mlp"), scalings=("none", "sqrt"))
    chosen = searched(trials, options)
    found = search(cast(Bench, own), options)
    assert found.choice == chosen
    assert own.attempts[-1] is found, "what was tried comes first, and the fit of one's own last"
    long = [choice for choice in own.tried if choice.steps == 80]
    assert len(long) <= 1, "a long schedule is trained once, with the seed of one's own"


def test_one_schedule_alone_is_taken() -> None:
    bench = Scripted(lambda choice: 1.0)
    assert searched(bench, replace(PLAIN, networks=("mlp",), steps=(7,))) == Choice("mlp", None, "none", 1, 7)
    assert len(bench.tried) == 1


def test_window_directions_and_scaling_are_found_one_after_the_other() -> None:
    def bits(choice: Choice) -> float:
        return (choice.window == 5) + (choice.directions == 8) + (choice.scaling == "sqrt") - 3

    options = Options(NETWORKS, (4, 8, None), ("none", "sqrt", "log1p"), (1, 5), (10, 20, 40))
    bench = Scripted(bits, by_heart)
    found = searched(bench, options)
    assert (found.window, found.directions, found.scaling) == (5, 8, "sqrt")
    assert len(bench.tried) == len(set(bench.tried))
    assert len(bench.tried) < 3 * 3 * 3 * 2, "not each with each"


def test_directions_end_where_bits_clearly_fall() -> None:
    clear = {4: 2.0, 8: 1.0, 16: 0.0, None: -1.0}
    slight = {4: 2.0, 8: 1.99, 16: 1.98, None: 1.97}
    options = replace(PLAIN, networks=("linear",), directions=(4, 8, 16, None))
    for bits, all_tried in ((clear, False), (slight, True)):
        # With 400 pairs the standard error is 0.05, and twice that a clear difference.
        bench = Scripted(lambda choice, bits=bits: bits[choice.directions], by_heart)  # type: ignore[misc]
        bench.noise = {8: NOISE, 16: -NOISE}
        assert searched(bench, options).directions == 4
        assert (16 in [choice.directions for choice in bench.tried]) == all_tried


def test_a_linear_map_chooses_the_front_for_all() -> None:
    def bits(choice: Choice) -> float:
        if choice.network == "linear":
            return (choice.window == 5) + (choice.directions == 8) + (choice.scaling == "sqrt") - 3
        return float(choice.directions is None) + (choice.window == 5)

    options = Options(("linear", "mlp"), (4, 8, None), ("none", "sqrt"), (1, 5), (10, 20), (0.0, 0.6, 1.0))
    bench = Scripted(bits, by_heart)
    assert searched(bench, options) == Choice("mlp", None, "sqrt", 5, 20, 0.6), (
        "with all directions, which suit it more"
    )
    noisy = {choice for choice in bench.tried if choice.noise == 0.6}
    assert {(choice.directions, choice.scaling, choice.window) for choice in noisy} == {
        (8, "sqrt", 5),
        (None, "sqrt", 5),
    }


@pytest.mark.parametrize(("gap", "longest"), [(0.2, 80), (0.4, 40)])
def test_the_longest_schedule_is_not_for_what_is_learnt_by_heart(gap: float, longest: int) -> None:
    bench = Scripted(lambda choice: choice.steps / 20, lambda choice: choice.steps / 20 / (1 - gap))
    searched(bench, replace(PLAIN, networks=("mlp",), noises=(0.0, 0.6, 1.0)))
    assert max(choice.steps for choice in bench.tried) == longest


def test_pairs_that_are_enough_for_one_row_may_be_too_few_for_a_window() -> None:
    def fitted(choice: Choice) -> float:
        return 100.0 if choice.window == 5 and choice.noise == 0 else 0.1

    bench = Scripted(lambda choice: 0.1 + (choice.window == 5), fitted)
    options = replace(PLAIN, networks=("mlp",), windows=(1, 5), noises=(0.0, 0.6, 1.0))
    assert searched(bench, options).window == 5
    assert any(choice.noise > 0 for choice in bench.tried)


def test_noise_is_for_networks_that_overfit() -> None:
    noises = (0.0, 0.3, 0.6, 1.0, 1.5)
    for best in noises[1:]:
        bench = Scripted(lambda choice, best=best: -abs(choice.noise - best), by_heart)  # type: ignore[misc]
        assert searched(bench, replace(PLAIN, networks=("mlp",), noises=noises)).noise == best
    sound = Scripted(lambda choice: choice.noise)
    assert searched(sound, replace(PLAIN, noises=noises)).noise == 0
    assert {choice.noise for choice in sound.tried} == {0.0}


def test_few_noisy_pairs_of_a_linear_mixture_get_a_linear_encoder() -> None:
    random = np.random.default_rng(0)
    latents = random.normal(size=(200, 3))
    partners = latents + 0.5 * random.normal(size=latents.shape)
    mixing = random.normal(size=(3, 8))
    halves = [values @ mixing + 0.3 * random.normal(size=(200, 8)) for values in (latents, partners)]
    pairing = IndexPairing(400, np.arange(400).reshape(2, 200).T)
    rows = pairing.held_out(0.5, 4096, 0)
    learner = Contrastive(Model(Real(3), "normal", "free"))
    recipe = learner.recipe("fast")
    recipe = replace(recipe, training=replace(recipe.training, batch_size=32))
    values = torch.from_numpy(np.concatenate(halves)).float()
    bench = Bench(learner, recipe, values, None, pairing.pairs(~rows), pairing.pairs(rows), seed=0, device="cpu")
    found = search(bench, Options(NETWORKS, (None,), ("none",), (1,), (50, 150, 300)))
    assert found.choice.network == "linear"
    assert found.score == max(one.score for one in bench.attempts)
    tried = [one.choice for one in bench.attempts]
    assert tried[0] == Choice("mlp", None, "none", 1, 150)
    assert len(tried) == len(set(tried))
    assert bench.attempts[0].overfits
