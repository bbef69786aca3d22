"""The training loop: device, precision, schedule, checkpoint and exact resume. It knows no metric."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import torch
from torch import Generator, Tensor
from torch.optim import Optimizer

from identica import _checks
from identica._checks import DivergenceError
from identica.learners import Learner
from identica.sources import Source
from identica.training.checkpoint import Curve, State
from identica.training.devices import resolve_device
from identica.training.schedule import Schedule

if TYPE_CHECKING:
    from lightning_fabric import Fabric

__all__ = ["DivergenceError", "Report", "Trained", "train"]

_STEPS_BETWEEN_LOOKS = 20

Evaluate = Callable[[Learner], Mapping[str, float]]
Report = Callable[[int, float, Mapping[str, float]], None]
"""Is told the step, the loss and the latest scores."""


@final
@dataclass
class Trained:
    """What is left after training: the curve of losses and scores, and the seconds spent (over all sessions)."""

    curve: Curve = field(default_factory=list)
    seconds: float = 0.0


def train(
    learner: Learner,
    source: Source,
    optimizers: Sequence[Optimizer],
    schedule: Schedule,
    *,
    batch_size: int,
    generator: Generator,
    device: str = "auto",
    precision: str = "32-true",
    evaluate: Evaluate | None = None,
    evaluate_every: int = 0,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 15.0,
    report: Report | None = None,
) -> Trained:
    """Minimise the learner's loss over its parameters, in place.

    Args:
        learner: What is trained.
        source: Where its batches come from.
        optimizers: Over its parameters.
        schedule: Number of steps and learning-rate factors.
        batch_size: Pairs or labelled observations in a batch.
        generator: Source of the batches, on the resolved device.
        device: `auto`, `cpu`, `cuda` or `mps`.
        precision: As Lightning Fabric names it, such as `32-true` or `bf16-mixed`.
        evaluate: Scores for the curve; must not draw from `generator`.
        evaluate_every: Steps between evaluations; 0 for the last step only.
        checkpoint: File to resume from and to save to; a run that was cut off ends exactly as one that was not.
        checkpoint_seconds: Time between saves.
        report: Called with the step, the loss and the latest scores; on the CPU after every step.
    """
    _checks.at_least("batch_size", batch_size, 2)
    fabric = _fabric(device, precision)
    module, *wrapped = fabric.setup(learner, *optimizers)
    state = State(learner, optimizers, generator)
    if checkpoint is not None and checkpoint.exists():
        state.load(checkpoint)
    watch = _Watch(learner, state, schedule.steps, evaluate, evaluate_every, checkpoint, checkpoint_seconds, report)
    batches = functools.partial(learner.batch, source, batch_size, generator)
    _run_steps(fabric, module, wrapped, batches, schedule, watch)
    return Trained(state.curve, watch.seconds())


def _fabric(device: str, precision: str) -> Fabric:
    from lightning_fabric import Fabric

    kind, _, number = resolve_device(device).partition(":")
    chosen: list[int] | int = [int(number)] if number else 1
    return Fabric(accelerator=kind, devices=chosen, precision=precision)  # type: ignore[arg-type]


def _run_steps(
    fabric: Fabric,
    module: Any,
    optimizers: Sequence[Any],
    batches: Callable[[], tuple[Tensor, ...]],
    schedule: Schedule,
    watch: _Watch,
) -> None:
    """Update until the schedule ends."""
    state = watch.state
    # Reading the loss makes the host wait for the device.
    look_every = 1 if fabric.device.type == "cpu" else _STEPS_BETWEEN_LOOKS
    module.train()
    while (progress := schedule.progress(state.step, elapsed := watch.seconds())) < 1:
        state.set_rates(schedule.factor(state.step, elapsed))
        loss = module(*batches(), progress=progress)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        fabric.backward(loss)
        for optimizer in optimizers:
            optimizer.step()
        state.step += 1
        if state.step % look_every == 0 or watch.is_due():
            watch.look(float(loss.detach()))


class _Watch:
    """What happens between steps: the check for divergence, scores, progress and checkpoints."""

    def __init__(
        self,
        learner: Learner,
        state: State,
        steps: int,
        evaluate: Evaluate | None,
        evaluate_every: int,
        checkpoint: Path | None,
        checkpoint_seconds: float,
        report: Report | None,
    ) -> None:
        self.learner, self.state, self.steps, self.report = learner, state, steps, report
        self.evaluate, self.evaluate_every = evaluate, evaluate_every
        self.checkpoint, self.checkpoint_seconds = checkpoint, checkpoint_seconds
        self.scores: Mapping[str, float] = {}
        self._saved = time.monotonic()
        self._started = self._saved - state.seconds

    def seconds(self) -> float:
        return time.monotonic() - self._started

    def is_due(self) -> bool:
        """Whether this step must not pass unseen: it is the last, or one to score."""
        step = self.state.step
        return step == self.steps or (self.evaluate_every > 0 and step % self.evaluate_every == 0)

    def look(self, loss: float) -> None:
        state = self.state
        if not math.isfinite(loss):
            raise DivergenceError(
                f"the loss became {loss} at step {state.step} of {self.steps}: lower the learning rate"
            )
        if self.evaluate is not None and self.is_due():
            parts = {name: float(value) for name, value in self.learner.parts().items()}
            self.scores = _evaluated(self.learner, self.evaluate)
            state.curve.append({"step": state.step, "loss": loss, **parts, **self.scores})
        if self.report is not None:
            self.report(state.step, loss, self.scores)
        overdue = time.monotonic() - self._saved >= self.checkpoint_seconds
        if self.checkpoint is not None and overdue and state.step < self.steps:
            state.seconds = self.seconds()
            state.save(self.checkpoint)
            self._saved = time.monotonic()


def _evaluated(learner: Learner, evaluate: Evaluate) -> Mapping[str, float]:
    learner.eval()
    try:
        with torch.no_grad():
            return evaluate(learner)
    finally:
        learner.train()
