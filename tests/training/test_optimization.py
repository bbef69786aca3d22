from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.optim import Adam

from identica._checks import InputError
from identica.encoders import MLP, BoxHead, Encoder
from identica.learners import ParameterGroup, SupervisedLearner
from identica.recipes import supervised_recipe
from identica.spaces import Box
from identica.training import Muon, check_groups, make_optimizers

SETTINGS = supervised_recipe("fast", Box(3)).training


@pytest.fixture
def learner(generator: torch.Generator) -> SupervisedLearner:
    return SupervisedLearner(Encoder(MLP(3, 3, [8, 8], generator=generator), BoxHead(3)))


def test_muon_takes_the_matrices_and_adam_the_rest(learner: SupervisedLearner) -> None:
    muon, adam = make_optimizers(learner, SETTINGS)
    assert isinstance(muon, Muon)
    assert isinstance(adam, Adam)
    assert [value.ndim for value in muon.param_groups[0]["params"]] == [2, 2, 2]
    assert muon.param_groups[0]["lr"] == SETTINGS.learning_rate
    biases, scales = adam.param_groups
    assert (biases["lr"], biases["scheduled"]) == (SETTINGS.bias_learning_rate, True)
    assert (scales["lr"], scales["scheduled"]) == (SETTINGS.scale_learning_rate, False)
    assert [id(value) for value in scales["params"]] == [id(learner.encoder.head.scale.raw)]


def test_adam_can_take_all(learner: SupervisedLearner) -> None:
    (adam,) = make_optimizers(learner, replace(SETTINGS, optimizer="adam", schedule_scales=True))
    assert isinstance(adam, Adam)
    rates = [SETTINGS.learning_rate, SETTINGS.bias_learning_rate, SETTINGS.scale_learning_rate]
    assert [group["lr"] for group in adam.param_groups] == rates
    assert all(group["scheduled"] for group in adam.param_groups)


def test_frozen_parameters_are_in_no_group(learner: SupervisedLearner) -> None:
    learner.encoder.head.requires_grad_(False)
    assert [group.role for group in check_groups(learner)] == ["matrices", "vectors"]


def test_every_parameter_is_in_one_group(learner: SupervisedLearner, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {group.role: group for group in learner.groups()}
    matrices, vectors = groups["matrices"], groups["vectors"]
    monkeypatch.setattr(learner, "groups", lambda: [matrices, vectors])
    with pytest.raises(InputError, match=r"of SupervisedLearner, but encoder\.head\.scale\.raw is in none"):
        check_groups(learner)
    monkeypatch.setattr(learner, "groups", lambda: [ParameterGroup("vectors", list(learner.parameters())), matrices])
    with pytest.raises(InputError, match="is in two"):
        make_optimizers(learner, SETTINGS)
