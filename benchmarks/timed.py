"""A source of pairs that says how long drawing them took."""

from __future__ import annotations

import time

from torch import Generator, Tensor

from identica.sources import Source


class Timed(Source):
    """The pairs of another source, with the seconds that drawing them took.

    Args:
        source: The other source.
        most: Observations in a sample, at the most.
    """

    def __init__(self, source: Source, most: int = 10**9) -> None:
        self.source, self.shape, self.most, self.seconds = source, source.shape, most, 0.0

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        started = time.perf_counter()
        drawn = self.source.pairs(count, generator)
        self.seconds += time.perf_counter() - started
        return drawn

    def sample(self, count: int, generator: Generator) -> Tensor:
        return self.source.sample(min(count, self.most), generator)
