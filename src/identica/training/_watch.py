"""What happens between steps: the check for divergence, scores, progress and checkpoints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from identica._checks import DivergenceError
from identica.learners import Learner
from identica.training._processes import Crew
from identica.training.checkpoint import State

__all__ = ["Evaluate", "Report", "Watch"]

Evaluate = Callable[[Learner], Mapping[str, float]]
Report = Callable[[int, float, Mapping[str, float]], None]
"""Is told the step, the loss and the latest scores."""

Log = Callable[[Mapping[str, float], int], None]
"""Is told named numbers and the step."""

# Losses of a run that are logged, at the most.
_LOGGED = 100


class Watch:
    """Looks at training between steps; it goes on from the checkpoint, if there is one."""

    def __init__(
        self,
        learner: Learner,
        state: State,
        steps: int,
        crew: Crew,
        evaluate: Evaluate | None,
        evaluate_every: int,
        checkpoint: Path | None,
        checkpoint_seconds: float,
        report: Report | None,
        log: Log | None = None,
    ) -> None:
        self.learner, self.state, self.steps, self.crew, self.report = learner, state, steps, crew, report
        self.evaluate, self.evaluate_every = evaluate, evaluate_every
        self.checkpoint, self.checkpoint_seconds = checkpoint, checkpoint_seconds
        self.scores: Mapping[str, float] = {}
        self.log, self._log_every = log, max(1, steps // _LOGGED)
        if checkpoint is not None:
            state.resume(checkpoint)
        self._saved = time.monotonic()
        self._started = self._saved - state.seconds

    def seconds(self) -> float:
        """Spent on training, over all sessions."""
        return time.monotonic() - self._started

    def is_due(self) -> bool:
        """Whether this step must not pass unseen: it is the last, or one to score."""
        step = self.state.step
        return step == self.steps or (self.evaluate_every > 0 and step % self.evaluate_every == 0)

    def look(self, loss: float) -> None:
        """Check the loss of the latest step, score, report and save, each when it is time."""
        state = self.state
        if not math.isfinite(loss):
            raise DivergenceError(
                f"the loss became {loss} at step {state.step} of {self.steps}: lower the learning rate"
            )
        if self.evaluate is not None and self.is_due():
            parts = self.crew.means(self.learner.parts())
            self.scores = _evaluated(self.learner, self.evaluate)
            state.curve.append({"step": state.step, "loss": loss, **parts, **self.scores})
        self._log_progress(loss)
        if self.report is not None:
            self.report(state.step, loss, self.scores)
        if time.monotonic() - self._saved >= self.checkpoint_seconds and state.step < self.steps:
            self.save()

    def _log_progress(self, loss: float) -> None:
        """Tell the loggers the loss, and at an evaluation all that the curve has."""
        step, curve = self.state.step, self.state.curve
        if self.log is None or not self.crew.ranks.is_first:
            return
        if self.evaluate is not None and self.is_due():
            self.log({name: float(value) for name, value in curve[-1].items() if name != "step"}, step)
        elif step % self._log_every == 0:
            self.log({"loss": loss}, step)

    def save(self) -> None:
        """Write the checkpoint, if there is to be one; of several processes the first does."""
        self._saved = time.monotonic()
        if self.checkpoint is not None and self.crew.ranks.is_first:
            self.state.seconds = self.seconds()
            self.state.save(self.checkpoint)


def _evaluated(learner: Learner, evaluate: Evaluate) -> Mapping[str, float]:
    learner.eval()
    try:
        with torch.no_grad():
            return evaluate(learner)
    finally:
        learner.train()
