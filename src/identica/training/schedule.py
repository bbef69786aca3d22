"""How long training goes on, and how learning rates change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

__all__ = ["Schedule"]


@final
@dataclass(frozen=True)
class Schedule:
    """Length of training, and the factor on the learning rate: linear warm-up, then constant or a cosine to zero.

    Parameter groups with `"scheduled": False` keep their own learning rate throughout.

    Args:
        steps: Number of updates, at most.
        warmup: Steps of linear warm-up.
        cosine: Let the factor fall to zero along a cosine.
        seconds: Time, at most; the cosine follows whichever ends first.
    """

    steps: int
    warmup: int = 0
    cosine: bool = False
    seconds: float | None = None

    def progress(self, step: int, elapsed: float = 0.0) -> float:
        """Part of the training that is done after `step` updates and `elapsed` seconds; it ends at 1."""
        by_steps = step / self.steps
        return by_steps if self.seconds is None else max(by_steps, elapsed / self.seconds)

    def factor(self, step: int, elapsed: float = 0.0) -> float:
        """Factor at `step`, counted from 0."""
        rise = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        return rise * (0.5 * (1 + math.cos(math.pi * self.progress(step, elapsed))) if self.cosine else 1.0)
