from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor

from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import contrastive_recipe, image_recipe
from identica.similarities import PowerDistance
from identica.spaces import Real

MODEL = Model(Real(2), "laplace")


def learner(**settings: float) -> ContrastiveLearner:
    recipe = contrastive_recipe("paper", MODEL)
    assert recipe.contrastive is not None
    changed = replace(recipe, contrastive=replace(recipe.contrastive, **settings))
    return Contrastive(MODEL).build(changed, torch.randn(100, 2), Generator().manual_seed(0))


def pairs(size: float, generator: Generator) -> tuple[Tensor, Tensor]:
    """Codes of that size, with partners that are near them."""
    codes = size * torch.randn(64, 2, generator=generator)
    return codes, codes + 0.01 * torch.randn(64, 2, generator=generator)


def by_hand(first: Tensor, second: Tensor, weight: float) -> Tensor:
    distances = torch.cdist(first, first, p=1) + torch.diag(torch.full((64,), math.inf))
    near = (first - second).abs().sum(dim=1)
    return (near + torch.log(weight + (-near).exp() + (-distances).exp().sum(dim=1))).mean()


def test_where_strangers_are_hard_to_tell_the_anchor_has_its_least_weight(generator: Generator) -> None:
    first, second = pairs(1.0, generator)
    assert float(by_hand(first, second, 0.0)) > math.log(2)
    found = learner(anchor_weight=0.01, easy_anchor_weight=1.0).infonce(first, second)
    assert float(found) == pytest.approx(float(by_hand(first, second, 0.01)), rel=1e-5)


def test_where_they_are_easy_to_tell_it_has_more(generator: Generator) -> None:
    first, second = pairs(1e4, generator)
    found = learner(anchor_weight=0.01, easy_anchor_weight=1.0).infonce(first, second)
    assert float(found) == pytest.approx(float(by_hand(first, second, 1.0)), rel=1e-3)


def test_in_between_the_weight_grows_as_the_loss_falls(generator: Generator) -> None:
    made = learner(anchor_weight=0.01, easy_anchor_weight=1.0)
    objective = InfoNCE(PowerDistance(1.0))
    weights = []
    for size in (6.0, 12.0, 24.0):
        first, second = pairs(size, generator)
        ease = 1 - float(by_hand(first, second, 0.0)) / math.log(2)
        weights.append(made._anchor_weight(objective, first, second))
        assert weights[-1] == pytest.approx(0.01 + 0.99 * max(0.0, ease), rel=1e-4)
    assert 0.01 < weights[0] < weights[1] < weights[2] < 1


def test_only_images_have_such_a_weight() -> None:
    images, vectors = image_recipe("fast", MODEL).contrastive, contrastive_recipe("fast", MODEL).contrastive
    assert images is not None
    assert vectors is not None
    assert (images.anchor_weight, images.easy_anchor_weight) == (0.01, 1.0)
    assert vectors.easy_anchor_weight == 0
    paper = image_recipe("paper", MODEL).contrastive
    assert paper is not None
    assert (paper.anchor_weight, paper.easy_anchor_weight) == (1.0, 0.0)
