from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from identica import ContrastiveICA, select
from identica._checks import InputError
from identica._planning import Split
from identica.models import Model
from identica.validation import CANDIDATES, Candidate, Selection, _contest
from identica.validation._contest import Contest, Fits, FittedModel, Task
from identica.validation.assumptions import (
    _box_first,
    _box_with_the_same_law,
    _equal_widths_behind,
    _rival,
    _with_another_chance,
)

RANDOM = np.random.default_rng(0)
BOX = RANDOM.uniform(size=(3000, 2))


def inside(points: np.ndarray) -> np.ndarray:
    """Reflected at the edges of the box."""
    folded: np.ndarray = 1 - np.abs(1 - np.abs(points))
    return folded


def test_the_true_assumption_comes_first() -> None:
    partners = inside(BOX + RANDOM.laplace(scale=0.05, size=BOX.shape))
    candidates = [("sphere", "vmf"), ("box", "laplace"), ("box", "normal"), ("unbounded", "laplace")]
    found = select(BOX, partners, candidates=candidates, max_steps=150, batch_size=512, n_jobs=1)
    assert str(found.best.model) == "box, laplace, free widths"
    assert "The pairs fit best with: box, laplace, free widths" in found.verdict
    assert found.best.consistency is not None
    bits = {str(candidate.model): candidate.bits for candidate in found.candidates}
    assert bits["box, laplace, free widths"] > bits["box, normal, free widths"]
    assert bits["unbounded, laplace, free widths"] > bits["sphere, vmf"]
    summary = json.loads(json.dumps(found.summary()))
    assert summary["best"] == {"space": "box", "conditional": "laplace"}
    assert len(summary["candidates"]) == len(candidates)
    assert str(found).splitlines()[1].startswith("box        laplace")


def test_a_box_that_is_none_is_passed_over() -> None:
    x = RANDOM.normal(size=(3000, 2))
    partners = x + RANDOM.laplace(scale=0.2, size=x.shape)
    candidates = [("box", "laplace"), ("unbounded", "laplace")]
    found = select(x, partners, candidates=candidates, max_steps=150, batch_size=512, n_jobs=1)
    assert str(found.best.model) == "unbounded, laplace, free widths"
    assert "do not fill a box" in str(found.candidates[1].objection)


def test_series_are_split_in_time() -> None:
    steps = np.random.default_rng(0).laplace(scale=0.05, size=(6000, 2))
    series = np.empty_like(steps)
    series[0] = 0.5
    for t in range(1, len(steps)):
        series[t] = inside(series[t - 1] + steps[t])
    found = select(series, lag=1, candidates=CANDIDATES[1:3], max_steps=100, batch_size=256, n_jobs=1)
    assert str(found.best.model) == "box, laplace, free widths"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"candidates": [("box", "laplace")]}, "candidates must be at least two"),
        ({"candidates": [("torus", "laplace"), ("box", "normal")]}, "unknown model space 'torus'"),
        ({"candidates": ["box", "sphere"]}, "candidates must be pairs of a space and a conditional"),
        ({"held_out": 1.0}, "held_out must be a part"),
        ({"held_out": 0.001}, "too few pairs: 3000 pairs leave 3 to test"),
        ({"refits": 1}, "refits must be at least 2"),
        ({"steps": 10}, "unknown argument 'steps'"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        select(BOX, BOX + 0.1, **arguments)


def named(space: str, conditional: str) -> Model:
    return Model.named(space, conditional, 2)


def fitted(bits: float) -> FittedModel:
    return FittedModel(ContrastiveICA(2), np.full(5, bits), np.zeros((5, 2), np.float32))


class Seeds:
    """Gives the bits of each seed, and keeps what was asked for."""

    def __init__(self, bits: dict[int, float]) -> None:
        self.bits = bits
        self.tasks: list[Task] = []

    def fit(self, tasks: list[Task]) -> Fits:
        self.tasks = tasks
        return {(task.model, task.repeat): fitted(self.bits[task.repeat]) for task in tasks}

    def error(self, difference: NDArray[np.float64]) -> float:
        return 0.0


def test_a_normal_law_that_a_higher_power_beats_has_another_chance() -> None:
    best, rival = named("box", "gennorm(beta=3)"), named("box", "normal")
    fits = {(best, 0): fitted(5.0), (best, 1): fitted(5.1), (rival, 0): fitted(4.0)}
    contest: Any = Seeds({2: 5.3, 3: 4.9})
    found = _with_another_chance(rival, best, fits, contest)
    assert [task.steps_of for task in contest.tasks] == [best, best]
    assert [fit.score for (model, _), fit in found.items() if model == rival] == [5.3, 4.9]
    assert [fit.score for (model, _), fit in found.items() if model == best] == [5.0, 5.1]


def test_only_that_one_has() -> None:
    cubes, normal, laplace = (named("box", law) for law in ("gennorm(beta=3)", "normal", "laplace"))
    assert _rival(cubes, [laplace, normal, cubes]) == normal
    assert _rival(cubes, [laplace, cubes]) is None
    assert _rival(cubes, [named("unbounded", "normal"), cubes]) is None
    assert _rival(laplace, [laplace, normal]) is None
    assert _rival(normal, [cubes, normal]) is None


def test_one_width_that_was_fitted_already_is_not_fitted_again() -> None:
    free = Model.named("box", "laplace", 2, "free")
    task = Task(replace(free, widths="equal"), 0, 1.0)
    fits, fitted_already = {(free, 0): fitted(5.0)}, {task: fitted(4.8)}
    contest: Any = Seeds({0: 4.5})
    assert _equal_widths_behind(free, fits, fitted_already, contest, 1.0) == pytest.approx((0.2, 0.0))
    assert contest.tasks == []
    assert _equal_widths_behind(free, fits, fitted_already, contest, 0.3) == pytest.approx((0.5, 0.0))
    assert contest.tasks == [replace(task, part=0.3)]


def test_the_longest_fits_begin_first(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def all_done(_: Any, tasks: list[tuple[Model, int, int]], jobs: int) -> list[FittedModel]:
        started.extend(steps for _, _, steps in tasks)
        return [fitted(float(steps)) for _, _, steps in tasks]

    monkeypatch.setattr(_contest, "all_done", all_done)
    pairs = np.arange(200).reshape(100, 2)
    contest = Contest(BOX[:200], Split(pairs, pairs, None), {}, 0, 1)
    short, long = named("box", "laplace"), named("box", "gennorm(beta=3)")
    found = contest.fit([Task(short, part=0.5), Task(short, 1), Task(long)])
    assert started == sorted(started, reverse=True)
    assert list(found) == [(short, 0), (short, 1), (long, 0)]
    assert found[short, 0].score < found[short, 1].score < found[long, 0].score


def candidate(model: Model, behind: float = 0.0, objection: str | None = None) -> Candidate:
    return Candidate(model, 5.0 - behind, (behind, 0.01), False, objection, None, ContrastiveICA(2))


def boxed(best: Model, other: Candidate) -> Model | None:
    return _box_with_the_same_law(Selection((candidate(best), other), 8.0))


def test_a_box_goes_before_the_unbounded_space_with_the_same_law_if_it_is_near() -> None:
    unbounded, box = named("unbounded", "normal"), named("box", "normal")
    assert boxed(unbounded, candidate(box, 0.14)) == box
    assert boxed(unbounded, candidate(box, 0.16)) is None
    assert boxed(unbounded, candidate(box, 0.14, "codes do not fill a box")) is None
    assert boxed(unbounded, candidate(named("box", "laplace"), 0.1)) is None
    assert boxed(box, candidate(unbounded, 0.1)) is None
    assert boxed(named("sphere", "vmf"), candidate(box, 0.1)) is None


def test_near_the_limit_of_bits_a_box_must_be_nearer() -> None:
    best, box = candidate(named("unbounded", "normal")), candidate(named("box", "normal"), 0.1)
    assert _box_with_the_same_law(Selection((best, box), 5.5)) == box.model
    assert _box_with_the_same_law(Selection((best, box), 5.3)) is None
    assert _box_with_the_same_law(Selection((best, replace(box, tied=True)), 5.3)) == box.model


def test_that_box_goes_before_others_with_more_bits() -> None:
    box, cubes, best = (named(*one) for one in (("box", "normal"), ("box", "gennorm(beta=3)"), ("unbounded", "normal")))
    found = Selection((candidate(best), candidate(cubes, 0.05), candidate(box, 0.1)), 8.0)
    assert [one.model for one in _box_first(found).candidates] == [box, best, cubes]
    far = Selection((candidate(best), candidate(cubes, 0.05), candidate(box, 0.2)), 8.0)
    assert _box_first(far) == far
