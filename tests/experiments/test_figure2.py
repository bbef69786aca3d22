from __future__ import annotations

import itertools
import math

import pytest

from identica._checks import InputError
from identica.experiments import PANELS, ROWS, plan_figure2
from identica.laws import Normal, VonMisesFisher


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
        assert (panel.space, panel.conditional, panel.model) == (row.space, row.conditional, row.model)


def test_forwards_asks_as_the_paper_does_and_backwards_as_the_protocol_does() -> None:
    plan = plan_figure2(2, [0], directions=("forwards", "backwards"))
    assert len(plan) == 8
    assert len({point.run.name for point in plan}) == 8
    for point in plan:
        settings = point.run.protocol
        if point.direction == "forwards":
            published = point.run.row.protocol("paper")
            for name in ("in_batch", "backward", "normalise_codes", "scale_start"):
                assert getattr(settings, name) == getattr(published, name)
        else:
            assert settings == point.run.row.protocol("fast")


def test_seeds_steps_and_protocol_are_passed_on() -> None:
    plan = plan_figure2(3, [0, 7], protocol="paper", steps=5, directions=("backwards",))
    assert len(plan) == 12
    assert {point.run.seed for point in plan} == {0, 7}
    assert {point.run.protocol.steps for point in plan} == {5}
    assert {(point.run.protocol.name, point.run.protocol.backward) for point in plan} == {("paper", True)}


def test_one_point_is_no_curve() -> None:
    with pytest.raises(InputError, match="points must be at least 2, got 1"):
        plan_figure2(1, [0])
