from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Generator

from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.experiments import Row
from identica.experiments.restore import known_types
from identica.laws import Laplace, Normal, VonMisesFisher
from identica.learners import Contrastive
from identica.models import Model
from identica.rendering import TeapotRenderer
from identica.rendering.latents import to_scene
from identica.sources import RenderedScenes, RenderedTeapots
from identica.spaces import Box

SMALL = RenderedScenes(Normal(0.1), pixels=16, samples=1)


@pytest.fixture(scope="module")
def source() -> RenderedTeapots:
    pytest.importorskip("embreex")
    return SMALL.build(0)


def test_images_are_those_of_the_renderer(source: RenderedTeapots, generator: Generator) -> None:
    latents, images = source.with_factors(5, generator)
    assert latents.shape == (5, 10)
    assert images.shape == (5, *source.shape) == (5, 3, 16, 16)
    assert float(latents.abs().max()) <= 1
    rendered = TeapotRenderer(16, 1).render(to_scene(latents.double().numpy()))
    assert np.array_equal((255 * images).round().byte().permute(0, 2, 3, 1).numpy(), rendered)
    assert [factor.name for factor in source.factors][:3] == ["x", "y", "z"]


def test_partners_follow_the_law(
    source: RenderedTeapots, generator: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Latents in the place of pictures: rendering thousands would take long.
    monkeypatch.setattr(source, "pictures", lambda latents: latents)
    first, second = source.pairs(20_000, generator)
    inner = first.abs().max(dim=1).values < 0.6
    assert float((second - first)[inner].std()) == pytest.approx(0.1, rel=0.05)
    assert float(second.abs().max()) <= 1


def test_the_same_generator_gives_the_same_pairs(source: RenderedTeapots) -> None:
    one, two = (source.pairs(3, torch.Generator().manual_seed(1)) for _ in range(2))
    assert all(torch.equal(*both) for both in zip(one, two, strict=True))
    assert not torch.equal(*one)


def test_settings_are_plain_data_and_say_what_they_are() -> None:
    assert from_plain(to_plain(SMALL), known_types()) == SMALL
    assert str(SMALL) == "3DIdent (rendered on demand, 16 × 16), normal(sigma=0.1) pairs"
    assert "laplace(scale=0.1)" in RenderedScenes(Laplace(0.1)).describe()


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="pixels must be at least 16, got 8"):
        RenderedScenes(pixels=8)
    with pytest.raises(InputError, match="samples must be a whole number"):
        RenderedScenes(samples=0)
    with pytest.raises(InputError, match="box"):
        RenderedScenes(VonMisesFisher(1.0))


def test_a_sample_to_measure_by_is_small(
    source: RenderedTeapots, generator: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "pictures", lambda latents: latents)
    assert len(source.bounded_sample(16_384, generator)) == 1024
    assert len(source.bounded_sample(10, generator)) == 10


def test_rows_of_it_are_rows_of_images() -> None:
    learner = Contrastive(Model(Box(10), "normal"))
    assert Row("own", SMALL, learner).run(0).recipe == learner.image_recipe("fast")
