"""From an estimator's settings to what its fit may choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica._observing import CHANNELS, LAYOUTS
from identica.encoders import BACKBONES, IMAGE_BACKBONES, SCALINGS, Scaling
from identica.fitting.choice import DEEP, Choice, Options, likely_scalings
from identica.learners import Contrastive
from identica.models import Model
from identica.sources import Pairing
from identica.spaces import NAMED_SPACES

__all__ = [
    "ALWAYS",
    "AUTO",
    "Split",
    "check_settings",
    "earlier_choice",
    "is_open",
    "lags_of",
    "options_of",
    "plain_choice",
    "seed_of",
    "split_pairs",
    "window_of",
]

AUTO, ALWAYS = "auto", "always"
"""What a user writes to let held-out pairs decide, and to hold some out whatever else is given."""

_VALIDATION_FRACTION, _MOST_HELD_OUT, _FEWEST_HELD_OUT = 0.15, 4096, 20
# Half of the held-out pairs must do to match a width to.
_FEWEST_SCORED = 16
_LONGEST_WINDOW, _MOST_WINDOWED = 50, 4096
# Schedules before that of the recipe, for up to ten components.
_SHORT_SCHEDULES = (100, 300, 1000)
_DIRECTIONS = (2, 8)
_NOISES = (0.0, 0.3, 0.6, 1.0, 1.5)
_FEWEST_DIRECTIONS = 6
# Kept directions must be so many times fewer than the rows.
_ROWS_PER_DIRECTION = 4


def check_settings(estimator: Any) -> None:
    """Refuse settings that mean nothing, before any work."""
    _checks.choice("space", estimator.space, NAMED_SPACES)
    Contrastive(Model.named(estimator.space, estimator.conditional, 2, estimator.widths), estimator.axes)
    if not isinstance(estimator.encoder, nn.Module):
        _checks.choice("encoder", estimator.encoder, (AUTO, *BACKBONES, DEEP))
    _checks.choice("scaling", estimator.scaling, (AUTO, *SCALINGS))
    for name in ("n_components", "pca_components", "window", "max_steps", "batch_size"):
        value = getattr(estimator, name)
        if value is not None and not (name in ("pca_components", "window") and value == AUTO):
            _checks.at_least_one(name, _checks.whole(value))
    if estimator.noise != AUTO:
        _checks.not_negative("noise", estimator.noise)
    if estimator.window is None:
        raise InputError("window must be 'auto' or a whole number from 1, got None")
    if estimator.lag is not None:
        lags_of(estimator.lag)
    elif estimator.window not in (AUTO, 1):
        raise InputError(f"window needs lag, which makes X a time series; got window={estimator.window!r} without lag")
    if estimator.max_seconds is not None:
        _checks.positive("max_seconds", estimator.max_seconds)
    if estimator.batch_size is not None:
        _checks.at_least("batch_size", _checks.whole(estimator.batch_size), 2)
    _checks.choice("layout", estimator.layout, LAYOUTS)
    _checks.choice("channels", estimator.channels, CHANNELS)
    refits = _checks.whole(estimator.refits)
    if isinstance(refits, bool) or not isinstance(refits, int) or refits < 0:
        raise InputError(f"refits must be a whole number from 0, got {estimator.refits!r}")
    part = estimator.validation_fraction
    if part not in (AUTO, ALWAYS) and not (isinstance(part, int | float) and 0 <= part < 1):
        raise InputError(f"validation_fraction must be 'auto', 'always' or from 0 to below 1, got {part!r}")


def seed_of(random_state: Any) -> int:
    """The random state itself if it is a whole number, so that experiments and fits share their seeds."""
    whole = _checks.whole(random_state)
    if isinstance(whole, int) and not isinstance(whole, bool):
        return _checks.seed("random_state", whole)
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_open(estimator: Any) -> bool:
    """Whether the data decide how long to train: no budget is given."""
    return estimator.max_steps is None and estimator.max_seconds is None


def window_of(estimator: Any, observations: Tensor) -> int:
    """The window that is given, 1 for `auto`; refused for images, as is a scaling."""
    if observations.ndim > 2:
        for name, plain in (("window", 1), ("scaling", "none")):
            if getattr(estimator, name) not in (AUTO, plain):
                raise InputError(f"{name} must be left out for images, got {getattr(estimator, name)!r}")
    return 1 if estimator.window == AUTO else int(estimator.window)


def lags_of(lag: Any) -> tuple[int, ...]:
    """The lags of a setting: one whole number, or several."""
    given = list(lag) if isinstance(lag, Sequence | range | np.ndarray) and not isinstance(lag, str) else [lag]
    if not given:
        raise InputError("lag must be a whole number from 1 or several, got none")
    return tuple(dict.fromkeys(_checks.at_least_one("lag", _checks.whole(one)) for one in given))


@final
@dataclass(frozen=True)
class Split:
    """Pairs to fit and pairs to score.

    Args:
        fitted: Index pairs.
        held_out: Index pairs, of which no row is in a fitted one; None if nothing is held out.
        runs: Of the rows, cut between the two; None if rows have no order.
    """

    fitted: NDArray[np.int64]
    held_out: NDArray[np.int64] | None
    runs: NDArray[np.int64] | None


def split_pairs(pairing: Pairing, fraction: Any, *, open_budget: bool, seed: int = 0) -> Split:
    """Hold out what `validation_fraction` says; `auto` holds out a part if there is something to choose by it."""
    given = fraction not in (AUTO, ALWAYS)
    if not given:
        fraction = _usual_fraction(len(pairing.pairs())) if open_budget or fraction == ALWAYS else 0.0
    if fraction == 0:
        return Split(pairing.pairs(), None, pairing.runs)
    rows = pairing.held_out(fraction, _MOST_HELD_OUT, seed)
    runs = pairing.cut(rows)
    fitted, held_out = (pairing.pairs(chosen, runs) for chosen in (~rows, rows))
    if len(held_out) < _FEWEST_SCORED or len(fitted) == 0:
        if given:
            raise InputError(
                f"validation_fraction must leave at least {_FEWEST_SCORED} pairs to hold out and some to fit, "
                f"got {fraction!r}, which leaves {len(held_out)} and {len(fitted)}"
            )
        return Split(pairing.pairs(), None, pairing.runs)
    return Split(fitted, held_out, runs)


def _usual_fraction(pairs: int) -> float:
    """The usual part, more of a few pairs, and nothing of very few."""
    if pairs < 4 * _FEWEST_HELD_OUT:
        return 0.0
    return max(_VALIDATION_FRACTION, _FEWEST_HELD_OUT / pairs)


def plain_choice(estimator: Any, steps: int, observations: Tensor) -> Choice:
    """What is fitted if nothing is chosen by held-out pairs."""
    named = _named(estimator, observations)
    directions = None if estimator.pca_components == AUTO else _checks.whole(estimator.pca_components)
    scaling: Scaling = "none" if estimator.scaling == AUTO else estimator.scaling
    window = 1 if estimator.window == AUTO else int(estimator.window)
    noise = 0.0 if estimator.noise == AUTO else float(estimator.noise)
    return Choice(named or "mlp", directions, scaling, window, int(steps), noise)


def earlier_choice(estimator: Any, steps: int) -> Choice:
    """What an earlier fit had, to go on with: for as many steps as are given, or as many as it had."""
    chosen = estimator.chosen_
    longer = chosen["steps"] if is_open(estimator) else steps
    directions, scaling, window = chosen["pca_components"], chosen["scaling"], int(chosen["window"])
    return Choice(chosen["encoder"], directions, scaling, window, int(longer), float(chosen["noise"]))


def options_of(estimator: Any, dim: int, steps: int, observations: Tensor, split: Split) -> Options:
    """What held-out pairs may decide: all that the user left at `auto`."""
    plain = plain_choice(estimator, steps, observations)
    vectors = observations.ndim == 2
    named = _named(estimator, observations)
    networks = ("linear", "mlp", DEEP) if named is None else (named,)
    windows: tuple[int, ...] = (plain.window,)
    if vectors and estimator.lag is not None and estimator.window == AUTO:
        # Windows of partners must not share samples.
        longest = min(*lags_of(estimator.lag), _LONGEST_WINDOW, max(1, _MOST_WINDOWED // observations.shape[1]))
        windows = (1, longest) if longest > 1 else (1,)
    directions: tuple[int | None, ...] = (plain.directions,)
    if vectors and estimator.pca_components == AUTO:
        directions = _directions(dim, observations.shape[1] * max(windows), len(np.unique(split.fitted)))
    likely = likely_scalings(observations[np.unique(split.fitted)]) if vectors else ("none",)
    scalings = likely if estimator.scaling == AUTO else (plain.scaling,)
    if not vectors:
        scalings = ("none",)
    longer = max(dim, 10) / 10
    rungs = [round(longer * rung) for rung in _SHORT_SCHEDULES]
    schedules = (*(rung for rung in rungs if rung < steps), steps)
    noises = _NOISES if vectors and named != "linear" and estimator.noise == AUTO else (plain.noise,)
    return Options(networks, directions, scalings, windows, schedules, noises)


def _named(estimator: Any, observations: Tensor) -> str | None:
    """The network that is given: a name, `own`, or for images the usual one."""
    if isinstance(estimator.encoder, nn.Module):
        return "own"
    if estimator.encoder != AUTO:
        return str(estimator.encoder)
    return None if observations.ndim == 2 else IMAGE_BACKBONES[0]


def _directions(dim: int, features: int, rows: int) -> tuple[int | None, ...]:
    """Few, more, and all directions, if there are many more features than components."""
    if features <= 2 * dim:
        return (None,)
    tried = sorted({max(_FEWEST_DIRECTIONS, factor * dim) for factor in _DIRECTIONS})
    fewer = [count for count in tried if count < min(features, rows / _ROWS_PER_DIRECTION)]
    every: list[int | None] = [None] if features <= rows / _ROWS_PER_DIRECTION or not fewer else []
    return (*fewer, *every)
