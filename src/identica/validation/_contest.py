"""The same pairs for every assumption, to fit and to compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from identica import _planning
from identica._side_by_side import all_done
from identica.estimator import ContrastiveICA
from identica.fitting import blocks_of, held_out_bits, standard_error
from identica.models import Model
from identica.validation._objections import objection, shows_light_tails

__all__ = ["FIRST_ROUND", "Contest", "Fits", "FittedModel", "Task"]

FIRST_ROUND = 0.3
"""Part of the usual steps that all assumptions have."""

_PAIRS_IN_A_BATCH = 512
# Codes of fitted rows that held-out partners are told from, too: near the limit of bits all assumptions are alike.
_MOST_OTHERS = 14_336
# Steps of the shortest recipes, for up to ten factors. Longer ones are for pairs that tell little, or for the last
# digit of a score; to compare, the geometric mean of both does.
_SHORTEST_RECIPE = 3000


Fits = dict[tuple[Model, int], "FittedModel"]
"""Fits by model and number of the repeat."""


@final
@dataclass(frozen=True)
class Task:
    """A fit to make.

    Args:
        model: What is assumed.
        repeat: Number of the repeat; each has its own seed.
        part: Part of the usual steps, if there is no budget.
        steps_of: Whose steps are the usual ones; its own if not given.
    """

    model: Model
    repeat: int = 0
    part: float = 1.0
    steps_of: Model | None = None


@final
class Contest:
    """Fits of several assumptions to the same pairs.

    Args:
        observations: All of them.
        split: Pairs to fit and pairs to compare on.
        settings: Of `ContrastiveICA`.
        seed: Of the first fit.
        n_jobs: Fits side by side.
    """

    def __init__(
        self,
        observations: NDArray[Any],
        split: _planning.Split,
        settings: dict[str, Any],
        seed: int,
        n_jobs: int,
    ) -> None:
        assert split.held_out is not None
        self.observations, self.fitted, self.tested = observations, split.fitted, split.held_out
        self.settings, self.seed, self.n_jobs = settings, seed, n_jobs
        self._others = np.linspace(0, len(self.fitted) - 1, min(len(self.fitted), _MOST_OTHERS)).astype(np.int64)
        self._blocks = None if split.runs is None else blocks_of(split.held_out[:, 0], split.runs)

    @property
    def is_open(self) -> bool:
        """Whether no budget is given."""
        return _planning.is_open(ContrastiveICA(**self.settings))

    @property
    def candidates(self) -> int:
        """How many codes a partner is told from."""
        return len(self.tested) // 2 + len(self._others)

    def fit(self, tasks: Sequence[Task]) -> Fits:
        """Fit them side by side, the longest first, so that no core waits for a long one at the end."""
        steps = [self._steps(task) if self.is_open else 0 for task in tasks]
        order = sorted(range(len(tasks)), key=steps.__getitem__, reverse=True)
        work = [(tasks[place].model, tasks[place].repeat, steps[place]) for place in order]
        done = dict(zip(order, all_done(self._one, work, self.n_jobs), strict=True))
        return {(task.model, task.repeat): done[place] for place, task in enumerate(tasks)}

    def objection(self, model: Model, fit: FittedModel) -> str | None:
        """What speaks against a model, whatever its bits, after a fit of it."""
        first, second = self.tested.T
        return objection(model, fit.codes, fit.codes[first], fit.codes[second])

    def shows_light_tails(self, model: Model, fit: FittedModel) -> bool:
        """Whether partners differ as a power above 2 says that is assumed, and not as by normal noise."""
        first, second = self.tested.T
        return shows_light_tails(model, fit.codes[second] - fit.codes[first])

    def error(self, difference: NDArray[np.float64], *runs: Sequence[FittedModel]) -> float:
        """Of the mean difference: over pairs, or blocks of a series, and over refits of either side."""
        variance = standard_error(torch.from_numpy(difference), self._blocks) ** 2
        for fits in runs:
            means = [fit.score for fit in fits]
            if len(means) > 1:
                variance += float(np.var(means, ddof=1)) / len(means)
        return math.sqrt(variance)

    def _one(self, model: Model, repeat: int, steps: int) -> FittedModel:
        estimator = self._estimator(model, repeat)
        if self.is_open:
            estimator.set_params(max_steps=steps)
        estimator.fit(self.observations, pairs=self.fitted)
        codes = torch.from_numpy(estimator.transform(self.observations)).float()
        first, second = torch.from_numpy(self.tested).unbind(dim=1)
        others = codes[torch.from_numpy(self.fitted[self._others, 0])]
        bits = held_out_bits(model, codes[first], codes[second], others)
        return FittedModel(estimator, bits.double().numpy(), codes.numpy())

    def _estimator(self, model: Model, repeat: int) -> ContrastiveICA:
        usual = {"batch_size": _PAIRS_IN_A_BATCH} if self.is_open else {}
        return ContrastiveICA(
            **usual | self.settings | {"n_components": model.space.dim},
            space=model.space.name,
            conditional=model.conditional,
            widths=model.widths,
            random_state=(self.seed + repeat) % 2**31,
        )

    def _steps(self, task: Task) -> int:
        """That part of the usual steps."""
        whole = self._estimator(task.steps_of or task.model, 0).recipe_steps(self.observations)
        usual = math.sqrt(whole * _SHORTEST_RECIPE * max(1.0, task.model.space.dim / 10))
        return max(1, round(task.part * min(whole, usual)))


@final
@dataclass(frozen=True)
class FittedModel:
    """An assumption after a fit, the bits of its held-out pairs, and the codes of all observations."""

    estimator: ContrastiveICA
    bits: NDArray[np.float64]
    codes: NDArray[np.float32]

    @property
    def score(self) -> float:
        """Mean bits."""
        return float(self.bits.mean())
