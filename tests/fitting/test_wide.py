from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import final

import numpy as np
import pytest
import torch
from torch import Generator, Tensor

from identica._checks import InputError
from identica.assembly import assemble, fit
from identica.fitting.wide import _pairs_of_codes, fit_from_wide_codes
from identica.learners import Contrastive, ContrastiveLearner, Learner
from identica.metrics import compute_scores
from identica.models import Model
from identica.recipes import Recipe, WideCodes, contrastive_recipe
from identica.sources import ArrayPairs, NumberedSource, Source
from identica.spaces import Box, Real, Sphere

MODELS = (Model(Box(2), "laplace"), Model(Sphere(3), "vmf"))


def recipe_for(model: Model, steps: int = 20) -> Recipe:
    recipe = contrastive_recipe("fast", model).with_steps(steps)
    recipe = replace(recipe, training=replace(recipe.training, batch_size=128))
    return replace(recipe, wide=WideCodes(5, 300, 2, recipe))


def mixed_pairs(count: int = 2000) -> tuple[Tensor, ArrayPairs]:
    """Two factors on a box, in six nonlinear mixtures."""
    generator = torch.Generator().manual_seed(0)
    factors = torch.rand(count, 2, generator=generator)
    moved = (factors + 0.05 * torch.randn(count, 2, generator=generator)).clamp(0, 1)
    latents = torch.cat([factors, moved])
    observations = torch.tanh((latents - 0.5) @ torch.randn(2, 6, generator=generator))
    rows = np.arange(count)
    return latents, ArrayPairs(observations, np.stack([rows, rows + count], axis=1))


def trained_wide(model: Model, recipe: Recipe, source: Source) -> ContrastiveLearner:
    assert recipe.wide is not None
    found = fit(Contrastive(model).of_wide_codes(recipe.wide), recipe.of_wide_codes(), source, 0).learner
    assert isinstance(found, ContrastiveLearner)
    return found


@pytest.fixture(autouse=True)
def _without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTICA_COMPILE", "0")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_codes_are_learnt_from_wide_ones_which_stay_as_they_are(model: Model) -> None:
    recipe, (_, source) = recipe_for(model), mixed_pairs(400)
    wide = trained_wide(model, recipe, source)
    assert wide.model == Model(Real(5), "normal")
    before = {name: value.clone() for name, value in wide.encoder.state_dict().items()}
    seen: list[int] = []

    def evaluate(learner: Learner) -> dict[str, float]:
        seen.append(learner.codes(source.observations).shape[1])
        return {}

    found = fit_from_wide_codes(
        Contrastive(model), recipe, source, 0, wide, evaluate=evaluate, evaluate_every=10
    ).learner
    assert seen == [model.space.dim] * 2  # of observations, while it trained on wide codes
    assert isinstance(found, ContrastiveLearner)
    assert all(torch.equal(value, before[name]) for name, value in wide.encoder.state_dict().items())
    codes = found.codes(source.observations)
    assert codes.shape == (800, model.space.dim)
    values = found.encoder.whitening(found.encoder.scaling(wide.encoder(source.observations)))
    torch.testing.assert_close(codes, found.encoder.stretch(found.encoder.behind_front(values)))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_learner_with_wide_codes_comes_back_from_its_weights(model: Model) -> None:
    recipe, (_, source) = recipe_for(model), mixed_pairs(400)
    found = fit_from_wide_codes(Contrastive(model), recipe, source, 0, trained_wide(model, recipe, source)).learner
    again = assemble(Contrastive(model), recipe, source, 1)
    again.load_state_dict(found.state_dict())
    codes = again.eval().codes(source.observations)
    assert torch.equal(codes, found.codes(source.observations))


def test_the_factors_are_found_in_wide_codes() -> None:
    model, (latents, source) = MODELS[0], mixed_pairs()
    recipe = contrastive_recipe("fast", model).with_steps(200)
    recipe = replace(recipe, training=replace(recipe.training, batch_size=256))
    recipe = replace(recipe, wide=WideCodes(5, 2000, 2, recipe))
    wide = trained_wide(model, recipe, source)
    found = fit_from_wide_codes(Contrastive(model), recipe, source, 0, wide)
    codes = found.learner.codes(source.observations).detach().numpy()
    assert compute_scores(("r2",), latents.numpy(), codes)["r2"].value > 0.9
    assert found.fitted["components_used"] == [0, 1]


def test_of_several_starts_the_one_is_kept_that_tells_most_of_unseen_pairs(tmp_path: Path) -> None:
    recipe, (_, source) = recipe_for(MODELS[0], 60), mixed_pairs(400)
    wide = trained_wide(MODELS[0], recipe, source)
    assert recipe.wide is not None
    recipe = replace(recipe, wide=replace(recipe.wide, starts=3))
    assert recipe.steps == 60 + 3 * 60
    evaluated: list[Learner] = []
    seen: list[int] = []

    def evaluate(learner: Learner) -> dict[str, float]:
        evaluated.append(learner)
        return {"start": float(len(evaluated) - 1)}

    found = fit_from_wide_codes(
        Contrastive(MODELS[0]),
        recipe,
        source,
        0,
        wide,
        evaluate=evaluate,
        checkpoint=tmp_path / "checkpoint.safetensors",
        report=lambda step, loss, scores: seen.append(step),
    )
    bits = found.fitted["bits_of_starts"]
    assert len(set(bits)) == len(evaluated) == 3
    assert found.learner is evaluated[bits.index(max(bits))]
    assert found.curve[-1]["start"] == bits.index(max(bits))
    assert seen == list(range(61, 241))


class Killed(BaseException):
    """What ends a process in the middle."""


def test_several_starts_go_on_exactly(tmp_path: Path) -> None:
    recipe, (_, source) = recipe_for(MODELS[0], 40), mixed_pairs(400)
    wide = trained_wide(MODELS[0], recipe, source)
    assert recipe.wide is not None
    recipe = replace(recipe, wide=replace(recipe.wide, starts=2))
    learn = functools.partial(fit_from_wide_codes, Contrastive(MODELS[0]), recipe, source, 0)
    whole = learn(wide)

    def killed(step: int, loss: float, scores: Mapping[str, float]) -> None:
        if step == 40 + 40 + 30:
            raise Killed

    saved = {"checkpoint": tmp_path / "checkpoint.safetensors", "checkpoint_seconds": 0.0}
    with pytest.raises(Killed):
        learn(wide, report=killed, **saved)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-1.safetensors", "checkpoint.safetensors"]
    again = learn(wide, **saved)
    assert again.fitted == whole.fitted
    assert all(
        torch.equal(value, whole.learner.state_dict()[name]) for name, value in again.learner.state_dict().items()
    )


def test_a_recipe_for_the_wrong_fit_is_refused() -> None:
    recipe, (_, source) = recipe_for(MODELS[0]), mixed_pairs(100)
    with pytest.raises(InputError, match="recipe must have no wide codes, got 5"):
        fit(Contrastive(MODELS[0]), recipe, source, 0)
    wide = Contrastive(Model(Real(5), "normal")).build(recipe.of_wide_codes(), source.observations, torch.Generator())
    with pytest.raises(InputError, match="recipe must have wide codes, got none"):
        fit_from_wide_codes(Contrastive(MODELS[0]), recipe.of_wide_codes(), source, 0, wide)


def test_there_is_a_start() -> None:
    with pytest.raises(InputError, match="starts must be"):
        WideCodes(5, 300, 2, contrastive_recipe("fast", MODELS[0]), starts=0)


def test_shorter_training_shortens_both_parts() -> None:
    recipe = recipe_for(MODELS[0], 3000)
    assert recipe.steps == 6000
    shorter = recipe.with_steps(20)
    assert shorter.wide is not None
    assert (shorter.training.steps, shorter.wide.recipe.training.steps, shorter.steps) == (20, 200, 220)
    longer = recipe.with_steps(9000)
    assert longer.wide is not None
    assert (longer.training.steps, longer.wide.recipe.training.steps) == (9000, 3000)


@final
class Numbered(NumberedSource):
    """Pairs of rows next to each other; partners have numbers, or none."""

    def __init__(self, observations: Tensor, *, named: bool) -> None:
        self.observations, self.named, self.shape = observations, named, tuple(observations.shape[1:])

    def __len__(self) -> int:
        return len(self.observations)

    def pairs_of(self, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.observations[rows], self.observations[(rows + 1) % len(self)]

    def partners_of(self, rows: Tensor, generator: Generator) -> Tensor | None:
        return (rows + 1) % len(self) if self.named else None

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.pairs_of(torch.randint(len(self), (count,), generator=generator), generator)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.pairs_of(torch.randperm(len(self), generator=generator)[:count], generator)

    def sample(self, count: int, generator: Generator) -> Tensor:
        return self.observations[torch.randperm(len(self), generator=generator)[:count]]


def test_codes_come_in_pairs_of_the_source() -> None:
    model, (_, source) = MODELS[0], mixed_pairs(400)
    recipe = recipe_for(model)
    wide = trained_wide(model, recipe, source)
    assert recipe.wide is not None
    drawn = _pairs_of_codes(wide, source, recipe.wide, 128, 0, "cpu")
    assert (len(drawn), drawn.observations.shape) == (300, (600, 5))  # two codes of each pair that was drawn
    observations = source.observations[:50]
    codes = wide.codes(observations).detach()
    for named, pairs, encoded in ((False, 50, 100), (True, 100, 50)):  # of named partners each code is computed once
        found = _pairs_of_codes(wide, Numbered(observations, named=named), recipe.wide, 16, 0, "cpu")
        assert (len(found), len(found.observations)) == (pairs, encoded)
        first, second = found.at(torch.arange(pairs))
        torch.testing.assert_close(first, codes.repeat(pairs // 50, 1))
        torch.testing.assert_close(second, codes.roll(-1, 0).repeat(pairs // 50, 1))
