from __future__ import annotations

import itertools
import math
from dataclasses import asdict, replace
from typing import Any

import pytest

from identica._checks import InputError
from identica.experiments import PANELS, ROWS, plan_figure2
from identica.laws import Normal, VonMisesFisher
from identica.learners import Contrastive
from identica.recipes import DIRECTIONS, Recipe
from identica.sources import Synthetic


def test_both_panels_reach_from_nearly_uniform_past_the_conditional() -> None:
    plan = plan_figure2(9, [0])
    for panel, ratio in zip(PANELS, (4.0, 8.0), strict=True):
        grid = [point.concentration for point in plan if point.panel == panel]
        assert len(grid) == 9
        assert panel.concentration in grid
        assert sum(concentration < panel.concentration for concentration in grid) == 5
        assert sum(concentration > panel.concentration for concentration in grid) == 3
        ratios = {round(later / earlier, 9) for earlier, later in itertools.pairwise(grid)}
        assert ratios == {ratio}


def test_at_the_dashed_line_the_marginal_is_the_law_of_the_noise() -> None:
    sphere, box = PANELS
    assert sphere.marginal(sphere.concentration) == sphere.conditional == VonMisesFisher(10)
    marginal = box.marginal(box.concentration)
    assert isinstance(marginal, Normal)
    assert isinstance(box.conditional, Normal)
    assert math.isclose(marginal.sigma, box.conditional.sigma)


def test_processes_and_models_are_those_of_table_1() -> None:
    for panel, row in zip(PANELS, (ROWS["t1-02"], ROWS["t1-05"]), strict=True):
        assert row.source == Synthetic(panel.space, panel.conditional)
        assert row.learner == Contrastive(panel.model)


def flat(recipe: Recipe) -> dict[str, Any]:
    """All settings of a recipe side by side."""
    found = asdict(recipe)
    return {"name": recipe.name, **found["training"], **found["encoder"], **found["contrastive"]}


def test_directions_differ_in_the_question_alone() -> None:
    plan = plan_figure2(2, [0], directions=DIRECTIONS)
    assert len({point.run.name for point in plan}) == len(plan) == 8
    for forwards, backwards in zip(plan[:4], plan[4:], strict=True):
        assert replace(forwards.run, recipe=backwards.run.recipe) == backwards.run
        one, other = flat(forwards.run.recipe), flat(backwards.run.recipe)
        assert {name for name in one if one[name] != other[name]} == {"name", "backward", "in_batch"}
        published = flat(forwards.run.learner.recipe("paper"))
        for name in ("whiten", "normalise_codes", "scale_start", "in_batch", "backward"):
            assert one[name] == published[name]


def test_seeds_steps_and_protocol_are_passed_on() -> None:
    plan = plan_figure2(3, [0, 7], protocol="paper", steps=5, directions=("backwards",))
    assert len(plan) == 12
    assert {point.run.seed for point in plan} == {0, 7}
    assert {point.run.recipe.training.steps for point in plan} == {5}
    assert {(point.run.recipe.name, flat(point.run.recipe)["backward"]) for point in plan} == {
        ("paper-backwards", True)
    }


def test_one_point_is_no_curve() -> None:
    with pytest.raises(InputError, match="points must be at least 2, got 1"):
        plan_figure2(1, [0])
    with pytest.raises(InputError, match="seeds must hold at least one"):
        plan_figure2(2, [])
