from __future__ import annotations

import torch
from torch import Generator

from identica.assembly import assemble
from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.sources import ArrayPairs, lagged_pairs


def test_the_front_is_done_once_and_the_loss_is_the_same(generator: Generator) -> None:
    source = ArrayPairs(3 + torch.randn(60, 4, generator=generator), lagged_pairs(60, 1))
    settings = Contrastive(Model.named("box", "laplace", 2))
    learner = assemble(settings, settings.recipe("fast"), source, 0).eval()
    assert isinstance(learner, ContrastiveLearner)
    chosen = torch.arange(40)
    plain = learner(*source.at(chosen))
    with learner.reading(source) as ahead:
        assert isinstance(ahead, ArrayPairs)
        assert not torch.allclose(ahead.observations, source.observations)
        assert torch.equal(ahead.indices, source.indices)
        assert torch.allclose(learner(*ahead.at(chosen)), plain, rtol=1e-5)
    assert torch.allclose(learner(*source.at(chosen)), plain, rtol=1e-5)


def test_other_sources_are_read_as_they_are(generator: Generator) -> None:
    images = ArrayPairs(torch.rand(12, 1, 32, 32, generator=generator), lagged_pairs(12, 1))
    settings = Contrastive(Model.named("box", "laplace", 2))
    learner = assemble(settings, settings.recipe("fast"), images, 0)
    with learner.reading(images) as read:
        assert read is images
