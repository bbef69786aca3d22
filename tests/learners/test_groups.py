from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor, nn

from identica._checks import InputError
from identica.experiments import ROWS
from identica.learners import Contrastive, Learner, ParameterGroup, Supervised
from identica.models import Model
from identica.sources import Source
from identica.spaces import Box, Real, Sphere
from identica.training import check_groups, make_optimizers

SAMPLE = torch.randn(50, 3, generator=Generator().manual_seed(0))


def all_learners() -> list[Learner]:
    spaces = (Sphere(3), Box(3), Real(3))
    settings = [*(Supervised(space) for space in spaces), Contrastive(Model(Sphere(3), "vmf"))]
    settings += [Contrastive(Model(space, "laplace")) for space in spaces]
    return [
        one.build(one.recipe(protocol), SAMPLE, Generator().manual_seed(0))
        for one in settings
        for protocol in ("fast", "paper")
    ]


@pytest.mark.parametrize("learner", all_learners())
def test_every_learnable_parameter_is_in_one_optimizer_once(learner: Learner) -> None:
    settings = ROWS["t2-01"].learner.recipe("fast").training
    for optimizer in ("adam", "muon"):
        found = make_optimizers(learner, replace(settings, optimizer=optimizer))
        trained = [id(value) for one in found for group in one.param_groups for value in group["params"]]
        assert sorted(trained) == sorted(id(value) for value in learner.parameters() if value.requires_grad)


class Forgetful(Learner):
    """Has a decoder that its groups leave out, or name twice."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.named = groups

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        return source.pairs(count, generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        return self.decoder(self.encoder(batch[0])).sum()

    def codes(self, observations: Tensor) -> Tensor:
        return self.encoder(observations)

    def groups(self) -> list[ParameterGroup]:
        decoder = [self.decoder.weight] * self.named
        return [ParameterGroup("matrices", [self.encoder.weight, *decoder])]


@pytest.mark.parametrize(("count", "where"), [(0, "none"), (2, "two")])
def test_a_parameter_that_no_group_takes_is_an_error(count: int, where: str) -> None:
    with pytest.raises(InputError, match=rf"one group of Forgetful, but decoder\.weight is in {where}"):
        check_groups(Forgetful(count))


def test_frozen_parameters_need_no_group() -> None:
    learner = Forgetful(0)
    learner.decoder.requires_grad_(False)
    assert [group.role for group in check_groups(learner)] == ["matrices"]


def test_scales_and_vectors_have_rates_of_their_own() -> None:
    learner = Contrastive(Model(Box(3), "laplace"))
    recipe = learner.recipe("fast")
    muon, adam = make_optimizers(learner.build(recipe, SAMPLE, Generator()), recipe.training)
    assert [value.ndim for group in muon.param_groups for value in group["params"]] == [2, 2, 2]
    rates = [(group["lr"], group["scheduled"]) for group in adam.param_groups]
    assert rates == [(recipe.training.bias_learning_rate, True), (recipe.training.scale_learning_rate, False)]
