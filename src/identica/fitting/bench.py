"""One place to try settings: the same pairs to fit and to score for all of them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from identica import assembly
from identica._slow_start import begin_linear_map_slowly
from identica.encoders import Encoder
from identica.fitting.choice import DEEP, LINEAR, Choice
from identica.fitting.held_out import HeldOut, standard_error
from identica.learners import Contrastive, ContrastiveLearner
from identica.recipes import Recipe
from identica.sources import ArrayPairs, stack_windows
from identica.training import Curve

__all__ = ["Attempt", "Bench"]

_HELD_OUT_LOSSES = 20
# Which pairs are scored does not depend on the seed of a fit.
_SEED_OF_SCORES = 0

Listen = Callable[[str, int, int, float], None]
"""Is told what is tried, the step, the number of steps and the loss."""


@final
@dataclass(frozen=True)
class Attempt:
    """A fit by some settings.

    Args:
        choice: The settings.
        learner: What was trained.
        curve: Step, loss, and held-out loss where it was computed.
        bits: Of each held-out pair; None if nothing is held out.
        fitted_bits: Mean bits of as many fitted pairs, scored in the same way.
        seconds: Spent.
        blocks: Numbers of the blocks that held-out pairs are in, if neighbours are not independent.
    """

    choice: Choice
    learner: ContrastiveLearner
    curve: Curve
    bits: Tensor | None
    fitted_bits: float | None
    seconds: float
    blocks: Tensor | None = None

    @property
    def score(self) -> float:
        """Mean held-out bits."""
        assert self.bits is not None
        return float(self.bits.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean held-out bits."""
        return 0.0 if self.bits is None else standard_error(self.bits, self.blocks)

    @property
    def gap(self) -> float:
        """Part of the bits of fitted pairs that held-out ones lack."""
        assert self.fitted_bits is not None
        return (self.fitted_bits - self.score) / max(self.fitted_bits, 0.5)

    @property
    def overfits(self) -> bool:
        """Whether fitted pairs are told much better than held-out ones."""
        return self.gap > 0.1

    def behind(self, other: Attempt) -> tuple[float, float]:
        """How many bits this one is behind the other on the same pairs, and the standard error of that."""
        assert other.bits is not None
        assert self.bits is not None
        difference = (other.bits - self.bits).double()
        return float(difference.mean()), standard_error(difference, self.blocks)

    def describe(self) -> dict[str, Any]:
        """As plain data, for users."""
        scores = {} if self.bits is None else {"held_out_bits": self.score, "fitted_bits": self.fitted_bits}
        return self.choice.describe() | {
            name: round(float(value or 0), 4) for name, value in (scores | {"seconds": self.seconds}).items()
        }


@final
class Bench:
    """Fits by any settings, all on the same pairs.

    Args:
        settings: What is trained.
        recipe: How, but for what is chosen.
        values: Observations, [rows, …].
        runs: Of the rows, cut between fitted and held-out ones; None if they have no order.
        fitted: Index pairs to fit.
        held_out: Index pairs to score, if there are any.
        seed: Of all fits.
        device: Where they run.
        network: A network of the user's own, if there is one.
        max_seconds: Time for each fit, if its steps may be cut short.
        slow_start: Let linear maps begin at the directions in which partners differ least, so that refits agree.
        start: A trained encoder of the same kind that fits begin at; its front stays what it is.
        listen: Is told how a fit goes.
    """

    def __init__(
        self,
        settings: Contrastive,
        recipe: Recipe,
        values: Tensor,
        runs: NDArray[np.int64] | None,
        fitted: NDArray[np.int64],
        held_out: NDArray[np.int64] | None,
        *,
        seed: int,
        device: str,
        network: nn.Module | None = None,
        max_seconds: float | None = None,
        slow_start: bool = False,
        start: Encoder | None = None,
        listen: Listen | None = None,
    ) -> None:
        self.settings, self.recipe, self.values, self.runs = settings, recipe, values, runs
        self.fitted, self.held_out = fitted, held_out
        self.seed, self.device, self.network = seed, device, network
        self.max_seconds, self.slow_start, self.start, self.listen = max_seconds, slow_start, start, listen
        self.attempts: list[Attempt] = []
        self._sources: dict[int, _Pairs] = {}

    def with_seed(self, seed: int) -> Bench:
        """The same pairs for fits with another seed; itself if it has this one."""
        if seed == self.seed:
            return self
        other = copy.copy(self)
        other.seed, other.attempts = seed, []
        return other

    def attempt(self, choice: Choice) -> Attempt:
        """Fit by these settings, unless that was done, and score."""
        for earlier in self.attempts:
            if earlier.choice == choice:
                return earlier
        started = time.monotonic()
        data = self._pairs(choice.window)
        curve: Curve = []

        def report(step: int, loss: float, scores: Any) -> None:
            curve.append({"step": step, "loss": loss, **scores})
            if self.listen is not None:
                self.listen(choice.network, step, choice.steps, loss)

        found = assembly.fit(
            self.settings,
            self._recipe(choice),
            data.source,
            self.seed,
            device=self.device,
            network=self.network,
            max_seconds=self.max_seconds,
            prepare=self._preparation(data.source, choice),
            report=report,
            **self._watched(data, choice),
        )
        learner = found.learner
        assert isinstance(learner, ContrastiveLearner)
        bits, fitted = (None if pairs is None else pairs.bits(learner, self.device) for pairs in data.scored)
        mean = None if fitted is None else float(fitted.mean())
        choice = replace(choice, steps=int(curve[-1]["step"]) if curve else 0)
        blocks = None if data.scored[0] is None else data.scored[0].blocks
        made = Attempt(choice, learner, curve, bits, mean, time.monotonic() - started, blocks)
        self.attempts.append(made)
        return made

    def matched(self, attempt: Attempt) -> ContrastiveLearner:
        """The learner of an attempt, with the width of its conditional matched on held-out pairs if there are any."""
        held_out = self.scored(attempt.choice.window)
        if held_out is not None:
            attempt.learner.match(held_out.source, self.seed)
        return attempt.learner

    def scored(self, window: int) -> HeldOut | None:
        """The held-out pairs with windows of this length, if there are any."""
        return self._pairs(window).scored[0]

    def _preparation(self, source: ArrayPairs, choice: Choice) -> Callable[[Any], None] | None:
        """What is done with a learner before it is trained, if anything."""
        if self.start is not None:
            return partial(_go_on, self.start)
        if not self.slow_start or choice.network != LINEAR:
            return None
        return lambda learner: begin_linear_map_slowly(learner.encoder, source)

    def _watched(self, data: _Pairs, choice: Choice) -> dict[str, Any]:
        """What a fit takes to compute the held-out loss now and then, and to be scored."""
        held_out = data.scored[0]
        if held_out is None:
            return {}

        def evaluate(learner: Any) -> dict[str, float]:
            return {"held_out_loss": held_out.loss(learner, self.recipe.training.batch_size)}

        def fix_units(learner: Any) -> dict[str, Any]:
            learner.fix_units(data.source, self.seed)
            return {}  # widths are matched on held-out pairs, once the choice is made

        watched = {"evaluate": evaluate, "evaluate_every": max(1, choice.steps // _HELD_OUT_LOSSES)}
        return watched | {"calibrate": fix_units}

    def _recipe(self, choice: Choice) -> Recipe:
        network = "mlp" if choice.network == DEEP else choice.network
        encoder = replace(
            self.recipe.encoder,
            network=network,
            widths=choice.hidden(self.settings.model.space.dim) or self.recipe.encoder.widths,
            directions=choice.directions,
            scaling=choice.scaling,
            noise=choice.noise,
        )
        return replace(self.recipe.with_steps(choice.steps), encoder=encoder)

    def _pairs(self, window: int) -> _Pairs:
        """Pairs with windows of this length, made once."""
        if window not in self._sources:
            values = self.values if self.runs is None else stack_windows(self.values, self.runs, window)
            source = ArrayPairs(values, self.fitted)
            scored: tuple[HeldOut | None, HeldOut | None] = (None, None)
            if self.held_out is not None:
                held_out = HeldOut(ArrayPairs(values, self.held_out), _SEED_OF_SCORES, self.runs)
                order = np.random.default_rng(_SEED_OF_SCORES).permutation(len(self.fitted))[: len(held_out.first)]
                scored = held_out, HeldOut(ArrayPairs(values, self.fitted[np.sort(order)]), _SEED_OF_SCORES)
            self._sources[window] = _Pairs(source, scored)
        return self._sources[window]


def _go_on(start: Encoder, learner: ContrastiveLearner) -> None:
    """Give a learner a copy of a trained encoder, to be trained further."""
    noise, device = learner.encoder.noise, learner.units.shift.device
    learner.encoder = copy.deepcopy(start).requires_grad_(True).to(device)
    learner.encoder.noise = noise


@final
@dataclass(frozen=True)
class _Pairs:
    """Pairs to fit; and to score, held-out ones and as many of the fitted ones."""

    source: ArrayPairs
    scored: tuple[HeldOut | None, HeldOut | None]
