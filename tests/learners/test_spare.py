from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Generator

from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import contrastive_recipe
from identica.similarities import PowerDistance
from identica.spaces import Box, Sphere

KEPT = ("positive_in_denominator", "anchor_weight", "in_batch")
MODELS = (Model(Box(2), "laplace"), Model(Sphere(3), "vmf"))


def learner(model: Model, spare: int) -> ContrastiveLearner:
    recipe = contrastive_recipe("fast", model)
    changed = replace(recipe, encoder=replace(recipe.encoder, spare=spare))
    return Contrastive(model).build(changed, torch.randn(100, 4), Generator().manual_seed(0))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_spare_codes_are_asked_for_their_own_partners_and_nobody_sees_them(model: Model, generator: Generator) -> None:
    made = learner(model, 5)
    first, second = torch.randn(2, 32, 4, generator=generator)
    assert made.codes(first).shape == (32, model.space.dim)
    codes, spare = made.encoder.with_spare(made.encoder.front(torch.cat([first, second])))
    assert spare.shape == (64, 5)
    alone = made.infonce(*made.encoder.stretch(codes).chunk(2), 0.0) + made._pull(codes)
    beside = InfoNCE(PowerDistance(2.0), **{name: getattr(made.objective, name) for name in KEPT})(*spare.chunk(2))
    assert beside.item() > 0
    assert made(first, second).item() == pytest.approx((alone + beside).item(), rel=1e-5)


def test_spare_codes_teach_the_layers_that_all_codes_share(generator: Generator) -> None:
    made = learner(MODELS[0], 5)
    batch = torch.randn(2, 32, 4, generator=generator)
    made(*batch).backward()
    last = [value for value in made.encoder.backbone.parameters() if value.ndim == 2][-1]
    assert last.grad is not None
    assert last.shape[0] == 7
    assert (last.grad.abs().sum(dim=1) > 0).all()


def test_without_spare_codes_nothing_changes(generator: Generator) -> None:
    batch = torch.randn(2, 32, 4, generator=generator)
    made = learner(MODELS[0], 0)
    codes, spare = made.encoder.with_spare(made.encoder.front(torch.cat(tuple(batch))))
    assert spare.shape == (64, 0)
    assert torch.equal(codes, made.encoder.unstretched(torch.cat(tuple(batch))))
