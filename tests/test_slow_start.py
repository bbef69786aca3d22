from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor, nn

from identica._slow_start import begin_slowly
from identica.assembly import assemble
from identica.encoders import Encoder
from identica.learners import AlignUniform, AlignUniformLearner, Contrastive, ContrastiveLearner
from identica.models import Model
from identica.recipes import contrastive_recipe
from identica.sources import ArrayPairs
from identica.spaces import Real

MODEL = Model(Real(3), "laplace")


def squares(places: Tensor) -> Tensor:
    """Images of a square whose upper left corner is there."""
    rows, columns = torch.arange(16)[:, None], torch.arange(16)
    y, x = places[:, 0, None, None], places[:, 1, None, None]
    return ((rows >= y) & (rows < y + 5) & (columns >= x) & (columns < x + 5)).float()[:, None]


@pytest.fixture(scope="module")
def source() -> ArrayPairs:
    generator = torch.Generator().manual_seed(0)
    places = torch.randint(0, 12, (800, 2), generator=generator)
    moved = (places + torch.randint(-1, 2, places.shape, generator=generator)).clamp(0, 11)
    images = squares(torch.cat([places, moved]))
    return ArrayPairs(images, torch.arange(1600).reshape(2, 800).T.numpy())


def halves(source: ArrayPairs, encoder: Encoder) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        first, second = (encoder(half) for half in source.at(torch.arange(len(source))))
    return first, second


def slowness(source: ArrayPairs, encoder: Encoder) -> float:
    """How far partners are apart, against how far codes are spread."""
    first, second = halves(source, encoder)
    return float((second - first).var(dim=0).mean() / first.var(dim=0).mean())


def test_codes_begin_at_what_changes_least(source: ArrayPairs) -> None:
    recipe = Contrastive(MODEL).image_recipe("fast")
    random = assemble(
        Contrastive(MODEL), replace(recipe, encoder=replace(recipe.encoder, slow_start=0.0)), source, seed=0
    )
    slow = assemble(Contrastive(MODEL), recipe, source, seed=0)
    assert isinstance(random, ContrastiveLearner)
    assert isinstance(slow, ContrastiveLearner)
    first, _ = halves(source, slow.encoder)
    assert first.std(dim=0) == pytest.approx([0.5] * 3, rel=0.1)
    assert first.mean(dim=0) == pytest.approx([0.0] * 3, abs=0.05)
    assert slowness(source, slow.encoder) < 0.6 * slowness(source, random.encoder)
    changed = [
        name
        for (name, ours), theirs in zip(slow.named_parameters(), random.parameters(), strict=True)
        if not torch.equal(ours, theirs)
    ]
    assert [name.rsplit(".", 1)[1] for name in changed] == ["weight", "bias"]
    again = assemble(Contrastive(MODEL), recipe, source, seed=0)
    assert all(torch.equal(*both) for both in zip(slow.parameters(), again.parameters(), strict=True))


def test_so_do_those_of_alignment_and_uniformity(source: ArrayPairs) -> None:
    settings = AlignUniform(0.5, 1, Real(3))
    learner = assemble(settings, settings.image_recipe("fast"), source, seed=0)
    assert isinstance(learner, AlignUniformLearner)
    assert halves(source, learner.encoder)[0].std(dim=0) == pytest.approx([0.5] * 3, rel=0.1)


def test_a_network_of_the_users_own_begins_as_it_is(source: ArrayPairs) -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(256, 3))
    learner = assemble(Contrastive(MODEL), Contrastive(MODEL).image_recipe("fast"), source, seed=0, network=network)
    assert isinstance(learner, ContrastiveLearner)
    assert torch.equal(learner.encoder.backbone.get_parameter("1.weight"), network[1].weight)


def test_too_few_features_leave_the_layer_as_it_is(source: ArrayPairs) -> None:
    narrow = nn.Sequential(nn.Flatten(), nn.Linear(256, 2), nn.ReLU(), nn.Linear(2, 3))
    learner = assemble(Contrastive(MODEL), contrastive_recipe("paper", MODEL), source, seed=0, network=narrow)
    assert isinstance(learner, ContrastiveLearner)
    begin_slowly(learner.encoder, source, 0.5, Generator().manual_seed(0))
    assert torch.equal(learner.encoder.backbone.get_parameter("3.weight"), narrow[3].weight)
