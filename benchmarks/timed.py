"""Batches of a learner, and how long drawing them took."""

from __future__ import annotations

import time

from torch import Generator, Tensor

from identica.learners import Learner
from identica.sources import Source


class TimedBatches:
    """Takes the place of a learner's `batch`, and adds up the seconds that it takes.

    Args:
        learner: Whose batches are timed from now on.
    """

    def __init__(self, learner: Learner) -> None:
        self.draw, self.seconds = learner.batch, 0.0
        learner.batch = self  # type: ignore[method-assign, assignment]

    def __call__(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        started = time.perf_counter()
        drawn = self.draw(source, count, generator)
        self.seconds += time.perf_counter() - started
        return drawn
