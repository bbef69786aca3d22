from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from identica._checks import InputError
from identica.encoders import make_encoder
from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.recipes import Recipe, contrastive_recipe, image_recipe, supervised_image_recipe, supervised_recipe
from identica.similarities import DotProduct, PowerDistance
from identica.spaces import Box, Real, Sphere

BOX = Model(Box(10), "normal")


def learner(recipe: Recipe, model: Model, observed: int = 10) -> ContrastiveLearner:
    generator = torch.Generator().manual_seed(0)
    sample = torch.randn(500, observed, generator=generator)
    return Contrastive(model).build(recipe, sample, generator)


def test_the_paper_protocol_is_the_authors() -> None:
    recipe = contrastive_recipe("paper", BOX)
    training, encoder = recipe.training, recipe.encoder
    assert encoder.widths == (100, 500, 500, 500, 500, 100)
    assert (training.batch_size, training.optimizer, training.learning_rate) == (6144, "adam", 1e-4)
    assert (training.steps, encoder.whiten, training.cosine, encoder.slope) == (300_000, "no", False, 0.01)
    assert supervised_recipe("paper", Box(10)).training.steps == 100_000
    assert supervised_recipe("paper", Box(10)).contrastive is None


PAPER_MODELS = [
    Model(Box(4), "laplace"),
    Model(Box(4), "normal"),
    Model(Box(4), "gennorm(beta=3)"),
    Model(Real(4), "laplace"),
    Model(Sphere(4), "vmf"),
]


@pytest.mark.parametrize("model", PAPER_MODELS, ids=str)
def test_the_papers_loss_is_that_of_the_released_code(model: Model) -> None:
    """For each anchor: its positive, and all anchors of the batch, itself among them."""
    recipe = contrastive_recipe("paper", model)
    assert recipe.contrastive is not None
    assert recipe.contrastive.anchor_weight == 1.0
    trained = learner(recipe, model, observed=4)
    generator = torch.Generator().manual_seed(1)
    pairs = [torch.randn(30, 4, generator=generator) for _ in range(2)]
    u, v = (trained.codes(half) for half in pairs)
    positive, every = _phi(model, u, v).diagonal(), _phi(model, u, u)
    denominator = positive.exp() + every.exp().sum(dim=1)
    expected = (-positive + denominator.log()).mean()
    assert torch.allclose(trained(*pairs), expected, rtol=1e-5)
    wanted = torch.autograd.grad(expected, list(trained.encoder.backbone.parameters()))
    ours = torch.autograd.grad(trained(*pairs), list(trained.encoder.backbone.parameters()))
    for one, other in zip(ours, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-6)


def _phi(model: Model, first: Tensor, second: Tensor) -> Tensor:
    """φ of all pairs of rows, as the paper writes it."""
    if isinstance(model.similarity, DotProduct):
        return first @ second.T
    assert isinstance(model.similarity, PowerDistance)
    return -(first[:, None] - second[None]).abs().pow(model.similarity.alpha).sum(dim=2)


def test_the_fast_protocol_starts_with_unrelated_codes_twelve_apart(generator: torch.Generator) -> None:
    for alpha, dim in ((1.0, 10), (2.0, 5), (2.0, 20)):
        recipe = contrastive_recipe("fast", Model(Real(dim), f"gennorm(beta={alpha:g})"))
        codes = recipe.encoder.scale_start * torch.rand(2, 20_000, dim, generator=generator)
        assert -PowerDistance(alpha).paired(codes[0], codes[1]).mean() == pytest.approx(12.0, rel=0.02)


def test_exponents_above_two_are_lowered_at_first() -> None:
    cubic, absolute = Model(Box(10), "gennorm(beta=3)"), Model(Box(10), "laplace")
    recipe = contrastive_recipe("fast", cubic)
    assert recipe.contrastive is not None
    assert 0 < recipe.contrastive.quadratic_until < 0.5
    lowered = learner(recipe, cubic)
    assert lowered.first_objective.similarity == PowerDistance(2.0)
    assert lowered.objective.similarity == PowerDistance(3.0)
    steady = learner(contrastive_recipe("fast", absolute), absolute)
    assert steady.first_objective == steady.objective
    paper = contrastive_recipe("paper", cubic)
    assert paper.contrastive is not None
    assert paper.contrastive.quadratic_until == 0


def test_a_direction_changes_the_question_and_the_name_alone() -> None:
    recipe = contrastive_recipe("fast", BOX)
    forwards = recipe.in_direction("forwards")
    assert forwards.contrastive is not None
    assert (forwards.name, forwards.contrastive.backward, forwards.contrastive.in_batch) == (
        "fast-forwards",
        False,
        "anchors",
    )
    assert replace(forwards, name="fast", contrastive=recipe.contrastive) == recipe


def test_a_plain_encoder_is_the_papers_around_the_network(generator: torch.Generator) -> None:
    recipe = contrastive_recipe("fast", BOX).with_plain_encoder()
    encoder = make_encoder(recipe.encoder, Box(10), torch.randn(500, 10, generator=generator), generator)
    assert isinstance(encoder.whitening, torch.nn.Identity)
    assert type(encoder.head).__name__ == "BoxHead"
    assert encoder.head.scale().tolist() == [1.0] * 10
    assert recipe.training == contrastive_recipe("fast", BOX).training


def test_images_are_trained_in_another_way_that_the_model_alone_decides(generator: torch.Generator) -> None:
    images = torch.randint(2, (50, 1, 16, 16), generator=generator, dtype=torch.uint8)
    for model in PAPER_MODELS:
        recipe = image_recipe("fast", model)
        assert (recipe.name, recipe.training.threads, recipe.encoder.whiten) == ("fast", 0, "uncentred")
        made = Contrastive(model).build(recipe, images, generator)
        assert type(made.encoder.backbone).__name__ == "ConvNet"
        assert type(made.encoder.whitening).__name__ == "Standardisation"
        assert type(made.encoder.head).__name__ in ("BoxHead", "RealHead", "SphereHead")
        assert torch.isfinite(made(images[:25], images[25:]))
    assert Contrastive(BOX).image_recipe("fast") == image_recipe("fast", BOX)
    assert supervised_image_recipe("fast", Box(10)).training.batch_size == 2 * recipe.training.batch_size


def test_the_paper_has_64_images_in_a_batch() -> None:
    assert image_recipe("paper", BOX).training.batch_size == 32
    assert supervised_image_recipe("paper", Box(3)).training.batch_size == 64
    assert image_recipe("paper", BOX).encoder == contrastive_recipe("paper", BOX).encoder


def test_sizes_of_single_codes_are_learnt_once() -> None:
    """By the network, or by a bound for each; a sphere has no such thing."""
    for space, free in ((Real(4), False), (Box(4), False), (Sphere(4), True)):
        assert image_recipe("fast", Model(space, "laplace", "free")).encoder.free_widths is free


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contrastive_recipe("slow", BOX), "unknown protocol 'slow'"),
        (lambda: supervised_recipe("slow", Box(3)), "unknown protocol 'slow'"),
        (
            lambda: contrastive_recipe("fast", BOX).with_steps(0),
            "steps must be a whole number of at least 1, got 0",
        ),
        (lambda: contrastive_recipe("fast", BOX).in_direction("upwards"), "unknown direction 'upwards'"),  # type: ignore[arg-type]
    ],
)
def test_bad_recipes_are_refused(make: Callable[[], Recipe], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
