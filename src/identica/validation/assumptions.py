"""Which assumption fits the pairs best? Rival models are compared by what they tell of pairs they have not seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from identica import _checks, _observing, _pairing, _planning
from identica._checks import InputError
from identica._pairing import Partners
from identica.estimator import ContrastiveICA
from identica.models import Model, Widths
from identica.recipes import exceeds_two
from identica.similarities import PowerDistance
from identica.sources import Pairing, stack_windows
from identica.spaces import NAMED_SPACES, Box, Real
from identica.validation._contest import FIRST_ROUND, Contest, Fits, FittedModel, Task
from identica.validation.numbers import NumberTried, check_numbers
from identica.validation.refits import consistency
from identica.validation.selection import Candidate, Selection

__all__ = ["CANDIDATES", "select"]

CANDIDATES = (
    ("sphere", "vmf"),
    *(
        (space, conditional)
        for space in ("box", "unbounded")
        for conditional in ("laplace", "normal", "gennorm(beta=3)")
    ),
)
"""The assumptions, each a space and a conditional, that `select` compares if none are given."""

_LEAST_HELD_OUT = 20
# Who is in the second round: after short schedules the best may be behind by so many bits, and by such a part of them.
_NEAR = 0.1, 0.03
# Who is fitted again: after long ones it may be behind by no more than refits differ.
_NEARER = 0.03, 0.005
_LONGER, _REPEATED = 4, 3
# However far behind, so many have long schedules: high powers are slow to learn, and may be behind by much at first.
_LEAST_LONGER = 3
# Of a normal law that a higher power beats, for another chance.
_MORE_SEEDS = 2, 3
# How far a box may be behind the unbounded space with the same law: as a part of the bits, and of what is left to their
# limit, near which all are alike. True ones were behind by up to 1.5 %; for unbounded laws something spoke against the
# box, or it was behind by 3.5 % or more.
_NEAR_BOX = 0.03, 0.25


def select(
    X: Any,
    y: Any = None,
    *,
    X_pos: Any = None,
    pairs: Any = None,
    labels: Any = None,
    trials: Any = None,
    candidates: Sequence[tuple[str, str]] = CANDIDATES,
    numbers: Sequence[int] = (),
    held_out: float = 0.2,
    refits: int = 2,
    random_state: Any = 0,
    n_jobs: int = -1,
    **settings: Any,
) -> Selection:
    """Rank assumptions (space × conditional) by held-out bits; those that lead are fitted for longer, and again.

    A normal law that a higher power beats has another chance, with as many steps and two more seeds, unless partners
    differ as that power says.

    Of equals the more restrictive space goes first (sphere, box, unbounded), and a box with the law of the best goes
    before the unbounded space even if it is behind by 3 % of the bits. Last are a box whose codes no box bounds
    or that squeezes a larger space, no bounds if codes fill a box, any other space than the sphere if codes lie on one,
    and Laplace noise if partners differ as by normal noise.

    Args:
        X: Observations.
        y: X_pos, by place.
        X_pos: The partner of each row of X.
        pairs: Index pairs into X.
        labels: Of each row of X, as `ContrastiveICA.fit` takes them.
        trials: With `lag` or `labels`: a label for each row of X.
        candidates: Pairs of a space and a conditional.
        numbers: Numbers of components to compare for the best assumption.
        held_out: Part of the pairs that is not fitted, nor any observation of it: whole trials or the ends of segments
            of a time series, otherwise drawn at random; at most 4096 pairs.
        refits: How often the leading assumptions are fitted, at least 2.
        random_state: Seed of the split and of the fits.
        n_jobs: Fits side by side; -1 for one per core.
        **settings: Of `ContrastiveICA`. If there is no budget, three tenths of the usual steps (3000, more for spheres
            and high powers) for all, and all of them for those that lead, in batches of 512 pairs; a window of one row
            unless one is given.
    """
    _check_settings(refits, settings)
    models, contest = _prepare(
        X, Partners(y, X_pos, pairs, labels, trials), candidates, held_out, random_state, n_jobs, settings
    )
    return _compared(models, contest, refits, check_numbers(numbers, contest.observations.shape[1]))


def _compared(models: Sequence[Model], contest: Contest, refits: int, numbers: Sequence[int]) -> Selection:
    """All assumptions once, those that lead again, and the best with one width for all and with other numbers."""
    fits = contest.fit([Task(model, part=FIRST_ROUND) for model in models])
    ahead = _leaders(contest, fits, models, _NEAR, _LEAST_LONGER)[:_LONGER]
    longer = contest.fit([Task(model) for model in ahead]) if contest.is_open else {}
    # A long schedule is too long for some: few pairs are learnt by heart.
    gained = [model for model, _ in longer if longer[model, 0].score > fits[model, 0].score]
    fits |= {(model, 0): longer[model, 0] for model in gained}
    repeated = _leaders(contest, fits, ahead, _NEARER)[:_REPEATED]
    parts = {model: 1.0 if model in gained else FIRST_ROUND for model in models}
    again = [Task(model, repeat, parts[model]) for model in repeated for repeat in range(1, refits)]
    # The leader is most often the best in the end: fitted beside the refits, its one width keeps no core waiting.
    narrow = [Task(replace(model, widths="equal"), 0, parts[model]) for model in repeated[:1] if model.has_free_widths]
    new = contest.fit([*again, *narrow])
    equal = {task: new.pop((task.model, task.repeat)) for task in narrow}
    fits |= new
    found = _ranked(models, fits, ahead, contest)
    rival = _rival(found.best.model, models)
    if rival is not None and not contest.shows_light_tails(found.best.model, fits[found.best.model, 0]):
        fits, parts[rival] = _with_another_chance(rival, found.best.model, fits, contest), 1.0
        ahead = list(dict.fromkeys([*ahead, rival]))
        found = _ranked(models, fits, ahead, contest)
    box = _box_with_the_same_law(found)
    if box is not None:
        missing = [Task(box, repeat, parts[box]) for repeat in range(1, refits) if (box, repeat) not in fits]
        fits |= contest.fit(missing)
        found = _box_first(_ranked(models, fits, ahead, contest))
    behind = _equal_widths_behind(found.best.model, fits, equal, contest, parts[found.best.model])
    return replace(found, equal_widths_behind=behind, numbers=_by_number(found.best.model, numbers, refits, contest))


def _rival(best: Model, models: Sequence[Model]) -> Model | None:
    """The normal law beside a best one of a higher power in the same space, however far behind."""
    normal = PowerDistance(2.0)
    same = [model for model in models if model.space == best.space and model.similarity == normal]
    return same[0] if same and exceeds_two(best.similarity) else None


def _box_with_the_same_law(found: Selection) -> Model | None:
    """The box beside a best unbounded space, if it is near and nothing speaks against it.

    With many factors a box is learnt less well than the unbounded space that holds it. What tells them apart is that an
    unbounded law does not fill a box with codes whose partners are as near at its ends as in its middle.
    """
    best = found.best
    near = min(_NEAR_BOX[0] * abs(best.bits), _NEAR_BOX[1] * (found.most_bits - best.bits))
    for other in found.candidates:
        same_law = other.model.similarity == best.model.similarity and isinstance(other.model.space, Box)
        is_near = other.tied or other.behind[0] - best.behind[0] <= near
        if isinstance(best.model.space, Real) and same_law and is_near and other.objection is None:
            return other.model
    return None


def _box_first(found: Selection) -> Selection:
    """The same, with the box first that is near the best unbounded space, if one is."""
    box = _box_with_the_same_law(found)
    first = [one for one in found.candidates if one.model == box]
    return replace(found, candidates=(*first, *(one for one in found.candidates if one.model != box)))


def _with_another_chance(rival: Model, best: Model, fits: Fits, contest: Contest) -> Fits:
    """All fits, of the rival the best two after it had the steps of the best law, from two more seeds.

    High powers have longer schedules; and with many factors a fit may leave one out, which costs more bits than a wrong
    law does.
    """
    again = contest.fit([Task(rival, repeat, steps_of=best) for repeat in _MORE_SEEDS])
    of_rival = [fit for (model, _), fit in fits.items() if model == rival] + list(again.values())
    kept = sorted(of_rival, key=lambda fit: fit.score, reverse=True)[:2]
    others = {task: fit for task, fit in fits.items() if task[0] != rival}
    return others | {(rival, place): fit for place, fit in enumerate(kept)}


def _prepare(
    X: Any,
    given: Partners,
    candidates: Sequence[tuple[str, str]],
    held_out: float,
    random_state: Any,
    n_jobs: int,
    settings: dict[str, Any],
) -> tuple[list[Model], Contest]:
    """The assumptions, and the pairs that they are compared on."""
    lag, window = settings.pop("lag", None), settings.pop("window", 1)
    observed = _observing.observe(ContrastiveICA(**settings), X, reset=True, pairs=given.pairs)
    layout = {name: settings.pop(name) for name in ("layout", "channels") if name in settings}
    observations = observed.values
    dim = settings.get("n_components") or math.prod(observations.shape[1:])
    models = _models(candidates, dim, settings.pop("widths", "free"))
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    lags = None if lag is None else _planning.lags_of(lag)
    observations, pairing = _pairing.make_pairs(observed, given, lags, seed, layout.get("channels", "first"))
    split = _split(pairing, held_out, seed)
    if split.runs is not None:
        observations = stack_windows(observations, split.runs, 1 if window == _planning.AUTO else int(window))
    return models, Contest(observations.numpy(), split, settings, seed, n_jobs)


def _check_settings(refits: int, settings: dict[str, Any]) -> None:
    if _checks.at_least_one("refits", refits) < 2:
        raise InputError(f"refits must be at least 2 to compare, got {refits}")
    allowed = sorted(ContrastiveICA().get_params())
    for name in sorted(settings):
        _checks.choice("argument", name, allowed)


def _split(pairing: Pairing, held_out: float, seed: int) -> _planning.Split:
    """Index pairs to fit and to test."""
    if not 0 <= held_out < 1:
        raise InputError(f"held_out must be a part from 0 to below 1, got {held_out!r}")
    wanted = round(held_out * len(pairing.pairs()))
    if wanted < _LEAST_HELD_OUT:
        raise InputError(
            f"too few pairs: {len(pairing.pairs())} pairs leave {wanted} to test, at least {_LEAST_HELD_OUT} are needed"
        )
    return _planning.split_pairs(pairing, held_out, open_budget=True, seed=seed)


def _models(candidates: Sequence[tuple[str, str]], dim: int, widths: Widths) -> list[Model]:
    try:
        models = [Model.named(space, conditional, dim, widths) for space, conditional in candidates]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"candidates must be pairs of a space and a conditional, got {candidates!r}") from None
    if len(models) < 2:
        raise InputError(f"candidates must be at least two, got {len(models)}")
    return list(dict.fromkeys(models))


def _leaders(
    contest: Contest, fits: Fits, models: Sequence[Model], near: tuple[float, float], least: int = 1
) -> list[Model]:
    """Candidates without objection, best first: those near the best, in bits and as a part of its bits, or so many."""
    bits = {model: fits[model, 0].score for model in models}
    free = [model for model in models if contest.objection(model, fits[model, 0]) is None] or list(models)
    order = sorted(free, key=bits.__getitem__, reverse=True)
    lowest = bits[order[0]] - near[0] - near[1] * abs(bits[order[0]])
    return [model for place, model in enumerate(order) if place < least or bits[model] >= lowest]


def _ranked(models: Sequence[Model], fits: Fits, refitted: Sequence[Model], contest: Contest) -> Selection:
    runs = {model: [fit for (one, _), fit in fits.items() if one == model] for model in models}
    per_pair = {model: np.mean([fit.bits for fit in runs[model]], axis=0) for model in models}
    objections = {model: contest.objection(model, runs[model][0]) for model in models}
    free = [model for model in refitted if objections[model] is None] or list(refitted)
    best = max(free, key=lambda model: float(per_pair[model].mean()))
    found = []
    for model in models:
        difference = per_pair[best] - per_pair[model]
        behind, error = float(difference.mean()), contest.error(difference, runs[best], runs[model])
        agreement = (
            consistency([fit.codes for fit in runs[model]], ambiguity=model.ambiguity) if len(runs[model]) > 1 else None
        )
        found.append(
            Candidate(
                model,
                float(per_pair[model].mean()),
                (behind, error),
                behind <= 2 * error,
                objections[model],
                agreement,
                runs[model][0].estimator,
            )
        )
    found.sort(key=_preference)
    return Selection(tuple(found), math.log2(contest.candidates))


def _equal_widths_behind(
    model: Model, fits: Fits, fitted: Mapping[Task, FittedModel], contest: Contest, part: float
) -> tuple[float, float] | None:
    """Bits that the model loses on the same pairs with one width for all components, with a standard error."""
    if not model.has_free_widths:
        return None
    task = Task(replace(model, widths="equal"), 0, part)
    equal = fitted[task] if task in fitted else contest.fit([task])[task.model, 0]
    difference = fits[model, 0].bits - equal.bits
    return float(difference.mean()), contest.error(difference)


def _by_number(model: Model, numbers: Sequence[int], refits: int, contest: Contest) -> tuple[NumberTried, ...]:
    """The same assumption with other numbers of components, each fitted as often as the leading assumptions."""
    models = [Model.named(model.space.name, model.conditional, number, model.widths) for number in numbers]
    fits = contest.fit([Task(one, repeat) for one in models for repeat in range(refits)])
    runs = {one: [fits[one, repeat] for repeat in range(refits)] for one in models}
    per_pair = {one: np.mean([fit.bits for fit in runs[one]], axis=0) for one in models}
    best = max(models, key=lambda one: float(per_pair[one].mean()), default=None)
    found = []
    for one in models:
        assert best is not None
        difference = per_pair[best] - per_pair[one]
        agreement = consistency([fit.codes for fit in runs[one]], ambiguity=one.ambiguity)
        used = int(np.median([len(fit.estimator.components_used_) for fit in runs[one]]))
        behind = float(difference.mean()), contest.error(difference, runs[best], runs[one])
        found.append(NumberTried(one.space.dim, float(per_pair[one].mean()), behind, agreement.steady, used))
    return tuple(found)


def _preference(candidate: Candidate) -> tuple[bool, bool, int, float]:
    restriction = list(NAMED_SPACES).index(candidate.model.space.name) if candidate.tied else 0
    return candidate.objection is not None, not candidate.tied, restriction, candidate.behind[0]
