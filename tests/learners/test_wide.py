from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor

from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import contrastive_recipe
from identica.similarities import PowerDistance
from identica.spaces import Box, Sphere

KEPT = ("positive_in_denominator", "anchor_weight", "in_batch")
MODELS = (Model(Box(2), "laplace"), Model(Sphere(3), "vmf"))


def learner(model: Model, wide: int) -> ContrastiveLearner:
    recipe = contrastive_recipe("fast", model)
    assert recipe.contrastive is not None
    changed = replace(recipe, contrastive=replace(recipe.contrastive, wide=wide))
    return Contrastive(model).build(changed, torch.randn(100, 4), Generator().manual_seed(0)).eval()


def loss_of_wide(made: ContrastiveLearner, first: Tensor, second: Tensor) -> Tensor:
    _, wide = made.encoder.with_wide(made.encoder.front(torch.cat([first, second])))
    assert wide.shape == (2 * len(first), 5)
    return InfoNCE(PowerDistance(2.0), **{name: getattr(made.objective, name) for name in KEPT})(*wide.chunk(2))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_wide_codes_are_trained_alone_and_those_of_the_model_join_them(model: Model, generator: Generator) -> None:
    made = learner(model, 5)
    first, second = torch.randn(2, 32, 4, generator=generator)
    assert made.codes(first).shape == (32, model.space.dim)
    wide = loss_of_wide(made, first, second).item()
    codes = made.encoder.unstretched(torch.cat([first, second]))
    alone = (made.infonce(*made.encoder.stretch(codes).chunk(2), 0.9) + made._pull(codes)).item()
    assert made(first, second, progress=0.2).item() == pytest.approx(wide, rel=1e-5)
    assert made(first, second, progress=0.9).item() == pytest.approx(wide + alone, rel=1e-5)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_what_codes_are_asked_for_does_not_reach_the_wide_ones(model: Model, generator: Generator) -> None:
    made = learner(model, 5)
    first, second = torch.randn(2, 32, 4, generator=generator)
    made(first, second, progress=0.9).backward()
    found = [value.grad.clone() for value in made.encoder.backbone.parameters() if value.grad is not None]
    assert made.encoder.narrowing is not None
    assert all(value.grad is not None and value.grad.any() for value in made.encoder.narrowing.parameters())
    made.zero_grad()
    loss_of_wide(made, first, second).backward()
    expected = [value.grad for value in made.encoder.backbone.parameters()]
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_a_narrowing_follows_the_moments_of_wide_codes(generator: Generator) -> None:
    narrowing = learner(MODELS[0], 5).encoder.narrowing
    assert narrowing is not None
    narrowing.train()
    for _ in range(1000):
        narrowing(100 + 10 * torch.randn(64, 5, generator=generator))
    torch.testing.assert_close(narrowing.mean, torch.full((5,), 100.0), rtol=0.01, atol=0)
    deviation = (narrowing.square - narrowing.mean.square()).sqrt()
    torch.testing.assert_close(deviation, torch.full((5,), 10.0), rtol=0.1, atol=0)
    before = narrowing.mean.clone()
    narrowing.eval()(torch.zeros(64, 5))
    assert torch.equal(narrowing.mean, before)
