from __future__ import annotations

from dataclasses import replace

import pytest
from test_made_up import BlobPairs
from torch import Generator

from identica._checks import InputError
from identica.assembly import assemble, fit
from identica.learners import AlignUniform, AlignUniformLearner
from identica.spaces import Box, Real, Sphere


def test_it_prints_as_tables_call_it() -> None:
    assert str(AlignUniform(0.9, 1)) == "L_AU(0.9, 1)"
    assert str(AlignUniform(0.9999, 1)) == "L_AU(0.9999, 1)"
    assert str(AlignUniform(0.5, 2, Real(10))) == "L_AU(0.5, 2), unbounded"
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


def test_more_uniformity_than_in_infonce_leaves_the_size_of_codes() -> None:
    for protocol in ("fast", "paper"):
        assert AlignUniform(0.9).image_recipe(protocol).training.scale_learning_rate == 0
        assert AlignUniform(0.5).image_recipe(protocol).training.scale_learning_rate > 0
    assert isinstance(assemble(AlignUniform(), AlignUniform().recipe("paper"), BlobPairs(16), 0), AlignUniformLearner)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1.0}, "a must be above 0 and below 1, got 1"),
        ({"p": 3}, "p must be 1 or 2, got 3"),
        ({"space": Sphere(3)}, "space must be a box or unbounded, got 'sphere'"),
        ({"a": 0.9, "space": Real(3)}, r"a must be at most 0\.5 for codes without bounds, got 0\.9"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AlignUniform(**given)  # type: ignore[arg-type]
