"""Factors of different width, and more codes than factors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Generator

from identica import ContrastiveICA
from identica.encoders import Encoder, NormalisedHead, ProductHead, Scale, SphereHead, Stretch, make_head
from identica.information import bits_of_pairs, match_scales
from identica.learners import Contrastive
from identica.metrics import mcc
from identica.models import Model
from identica.redundancy import informative_codes
from identica.similarities import DotProduct, PowerDistance
from identica.sources import Layers
from identica.spaces import Box, Product, Real, Sphere


def boxed_pairs(widths: list[float], count: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    latents = generator.uniform(size=(count, len(widths)))
    partners = latents + generator.laplace(scale=widths, size=latents.shape)
    while (outside := (partners < 0) | (partners > 1)).any():
        partners = np.where(outside, latents + generator.laplace(scale=widths, size=latents.shape), partners)
    return latents, partners


def mixed(*latents: np.ndarray, observed: int | None = None) -> list[np.ndarray]:
    mixing = Layers().draw(latents[0].shape[1], observed, generator=Generator().manual_seed(1), draws=500)
    return [mixing(torch.from_numpy(values).float()).numpy() for values in latents]


def test_a_stretch_keeps_the_size_of_all_codes_together(generator: Generator) -> None:
    stretch = Stretch(3)
    assert torch.equal(stretch(torch.ones(2, 3)), torch.ones(2, 3))
    with torch.no_grad():
        stretch.raw.copy_(torch.tensor([5.0, 1.0, 0.0]))
    assert float(stretch.factors().detach().log().sum()) == pytest.approx(0, abs=1e-5)
    encoder = Encoder(torch.nn.Identity(), NormalisedHead(3, 7.0, order=5.0), None, stretch)
    values = torch.rand(5000, 3, generator=generator)
    codes = encoder(values).detach()
    units = encoder.units(codes)(codes)
    assert torch.allclose(units.amin(dim=0), torch.zeros(3), atol=0.03)
    assert torch.allclose(units.amax(dim=0), torch.ones(3), atol=0.03)


def test_widths_are_pulled_to_what_partners_say(generator: Generator) -> None:
    stretch = Stretch(2, momentum=1.0)
    first = torch.rand(4000, 2, generator=generator)
    second = first + torch.tensor([0.1, 0.4]) * torch.randn(4000, 2, generator=generator)
    with torch.no_grad():
        stretch.raw.copy_(torch.tensor([2.0, 0.5]).log())  # the widths differ by four, and so must the factors
        nearer = float(stretch.pull(first, second, 1.0))
        stretch.raw.zero_()
        assert nearer < 0.05 < float(stretch.pull(first, second, 1.0))


def test_product_spaces_have_heads(generator: Generator) -> None:
    head = make_head(Product((Sphere(3), Box(2), Real(1))), 2.0, normalised=True)
    assert isinstance(head, ProductHead)
    codes = head(torch.randn(200, 6, generator=generator)).detach()
    assert torch.allclose(codes[:, :3].norm(dim=1), torch.full((200,), 2.0))
    units = head.units(codes)(codes)
    assert torch.allclose(units[:, :3].norm(dim=1), torch.ones(200), atol=1e-5)
    assert float(units[:, 5].std()) == pytest.approx(1, abs=0.01)
    assert isinstance(head.heads[0], SphereHead)


def test_models_with_one_concentration_have_no_widths() -> None:
    assert not Model(Sphere(3), "vmf").has_free_widths
    assert not Model(Sphere(3), "vmf", "free").has_free_widths
    assert Model(Sphere(3), "normal", "free").has_free_widths
    assert Model(Sphere(3), "normal", "free").ambiguity == "permutation"
    assert Model(Sphere(3), "normal").ambiguity == "rotation"
    assert str(Model(Box(3), "laplace", "free")) == "box, laplace, free widths"
    for model, free in ((Model(Box(3), "laplace", "free"), True), (Model(Box(3), "laplace"), False)):
        recipe = Contrastive(model).recipe("fast")
        assert recipe.encoder.free_widths == free
        assert (recipe.training.width_learning_rate > 0) == free
        assert recipe.contrastive is not None
        assert (recipe.contrastive.width_pull > 0) == free
        assert not recipe.with_plain_encoder().encoder.free_widths


def test_scales_of_all_codes_are_matched_together() -> None:
    first, second = (torch.from_numpy(values) for values in boxed_pairs([0.03, 0.1, 0.3]))
    for start in (torch.ones(3), torch.tensor([50.0, 5.0, 1.0])):
        found = match_scales(PowerDistance(1.0), first, second, start, free=True)
        np.testing.assert_allclose(1 / found.numpy(), [0.03, 0.1, 0.3], rtol=0.15)
    common = match_scales(PowerDistance(1.0), first, second, torch.tensor([2.0, 1.0, 1.0]), free=False)
    np.testing.assert_allclose((common / common[1]).numpy(), [2, 1, 1], rtol=1e-5)
    worse, better = (bits_of_pairs(PowerDistance(1.0), first, second, s).mean() for s in (common, found))
    assert worse < better


def test_spare_codes_are_found() -> None:
    latents, partners = boxed_pairs([0.1, 0.1])
    noise = np.random.default_rng(1).normal(size=(2, len(latents), 1))
    codes = [
        torch.from_numpy(np.column_stack([z, z[:, 0] ** 3, z.sum(axis=1), extra]))
        for z, extra in zip((latents, partners), noise, strict=True)
    ]
    scales = match_scales(PowerDistance(1.0), *codes, torch.ones(5), free=True)
    used = informative_codes(PowerDistance(1.0), *codes, scales)
    assert used.tolist() == [True, True, False, False, False]
    alone = informative_codes(PowerDistance(1.0), codes[0][:, :2], codes[1][:, :2], scales[:2])
    assert alone.tolist() == [True, True]


@pytest.mark.parametrize(("space", "conditional"), [("box", "laplace"), ("unbounded", "normal"), ("sphere", "normal")])
def test_few_pairs_of_pure_noise_can_be_fitted(space: str, conditional: str) -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    made = ContrastiveICA(3, space=space, conditional=conditional, widths="free", lag=1, max_steps=5, random_state=0)
    fitted = made.fit(x)
    assert len(fitted.components_used_) >= 1
    assert np.isfinite(fitted.widths_[fitted.components_used_]).all()
    assert np.isfinite(fitted.score(x))


def test_different_widths_are_recovered() -> None:
    latents, partners = boxed_pairs([0.03, 0.08, 0.2], 20_000)
    x, x_pos = mixed(latents, partners)
    fitted = ContrastiveICA(3, max_steps=1000, random_state=0).fit(x, x_pos)
    assert fitted.widths == "free"
    score = mcc(latents, fitted.transform(x))
    assert score.value > 0.97
    assert score.assignment is not None
    np.testing.assert_allclose(fitted.widths_[list(score.assignment)], [0.03, 0.08, 0.2], rtol=0.25)
    assert fitted.components_used_.tolist() == [0, 1, 2]
    assert fitted.conditional_.startswith("laplace(scale=[")
    equal = ContrastiveICA(3, widths="equal", max_steps=1000, random_state=0).fit(x, x_pos)
    assert mcc(latents, equal.transform(x)).value < score.value
    assert len(set(equal.widths_)) == 1


def test_every_scale_and_stretch_is_trained_by_its_own_rate() -> None:
    learner = Contrastive(Model(Box(3), "laplace", "free"))
    recipe = learner.recipe("fast")
    built = learner.build(recipe, torch.rand(50, 3), Generator())
    roles = {group.role: group.parameters for group in built.groups()}
    assert [value is built.encoder.stretch.raw for value in roles["widths"]] == [True]
    assert [isinstance(module, Scale) for module in built.modules()].count(True) == len(roles["scales"]) == 1
    assert replace(recipe.training, width_learning_rate=0.0) != recipe.training


def test_a_von_mises_fisher_law_has_one_width(generator: Generator) -> None:
    points = Sphere(3).uniform(600, generator).numpy()
    near = points + 0.1 * np.random.default_rng(0).normal(size=points.shape)
    fitted = ContrastiveICA(3, space="sphere", conditional="vmf", widths="free", max_steps=30, random_state=0).fit(
        points, near
    )
    assert len(set(fitted.widths_)) == 1
    assert fitted.conditional_.startswith("vmf(kappa=")
    assert isinstance(fitted.model_.similarity, DotProduct)
