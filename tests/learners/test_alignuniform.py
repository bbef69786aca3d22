from __future__ import annotations

from dataclasses import replace

import pytest
from test_made_up import BlobPairs
from torch import Generator

from identica._checks import InputError
from identica.assembly import fit
from identica.learners import AlignUniform, AlignUniformLearner
from identica.spaces import Box, Real, Sphere


def test_it_prints_as_tables_call_it() -> None:
    assert str(AlignUniform(0.9, 1)) == "L_AU(0.9, 1)"
    assert str(AlignUniform(0.9999, 1)) == "L_AU(0.9999, 1)"
    assert str(AlignUniform(0.5, 2, Box(10))) == "L_AU(0.5, 2), box"
    assert AlignUniform(0.5, 2, Real(10)).ambiguity == "affine map"
    assert AlignUniform(0.5, 1, Real(10)).ambiguity == "permutation"


def test_the_parts_add_up_and_training_lowers_the_loss() -> None:
    settings, source = AlignUniform(0.9, 1, Box(3)), BlobPairs(16)
    recipe = settings.image_recipe("fast").with_steps(40)
    recipe = replace(recipe, training=replace(recipe.training, threads=1, warmup=5))
    found = fit(settings, recipe, source, 0, evaluate=lambda _: {}, evaluate_every=5)
    for point in found.curve:
        assert point["alignment"] + point["uniformity"] == pytest.approx(point["loss"], abs=1e-4)
    assert found.curve[-1]["loss"] < found.curve[0]["loss"]
    codes = found.learner.codes(source.sample(50, Generator().manual_seed(0)))
    assert codes.shape == (50, 3)


def test_codes_without_bounds_stay_finite_where_uniformity_weighs_more() -> None:
    settings, source = AlignUniform(0.999, 1, Real(3)), BlobPairs(16)
    recipe = settings.recipe_for("fast", images=True).with_steps(300)
    recipe = replace(recipe, training=replace(recipe.training, threads=1, warmup=5))
    learner = fit(settings, recipe, source, 0).learner
    assert isinstance(learner, AlignUniformLearner)
    spread = learner.codes(source.sample(200, Generator().manual_seed(0))).detach().std(dim=0)
    assert float(spread.max()) < 30


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1.0}, "a must be above 0 and below 1, got 1"),
        ({"p": 3}, "p must be 1 or 2, got 3"),
        ({"space": Sphere(3)}, "space must be a box or unbounded, got 'sphere'"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AlignUniform(**given)  # type: ignore[arg-type]
