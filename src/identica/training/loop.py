"""The training loop: devices, precision, schedule, checkpoint and exact resume. It knows no metric."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from torch import Generator, Tensor
from torch.optim import Optimizer

from identica import _checks
from identica._launched import ALONE, launched
from identica._ranks import together
from identica._signals import held_back
from identica.learners import Learner
from identica.sources import Source
from identica.training._processes import Crew, make_fabric
from identica.training._watch import Evaluate, Report, Watch
from identica.training.checkpoint import Curve, State
from identica.training.schedule import Schedule

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.logger import Logger

__all__ = ["Trained", "train"]

_STEPS_BETWEEN_LOOKS = 20


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
    spread: bool = False,
    loggers: Sequence[Logger] = (),
) -> Trained:
    """Minimise the learner's loss over its parameters, in place; Ctrl-C and SIGTERM wait for the checkpoint.

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
        spread: Share each batch among all processes that torchrun or SLURM started; the result is that of one.
        loggers: Of Lightning Fabric, such as `make_trackers` gives: they get the curve, and the loss more often.
    """
    _checks.at_least("batch_size", batch_size, 2)
    ranks = launched() if spread else ALONE
    fabric = make_fabric(device, precision, ranks, loggers)
    module, *wrapped = fabric.setup(learner, *optimizers)
    state = State(learner, optimizers, generator)
    watched = evaluate, evaluate_every, checkpoint, checkpoint_seconds, report
    log = fabric.log_dict if loggers else None
    watch = Watch(learner, state, schedule.steps, Crew(ranks, fabric.device), *watched, log)
    batches = functools.partial(learner.batch, source, batch_size, generator)
    _run_until_asked(fabric, module, wrapped, batches, schedule, watch)
    for logger in loggers:
        logger.finalize("success")
    return Trained(state.curve, watch.seconds())


def _run_until_asked(
    fabric: Fabric,
    module: Any,
    optimizers: Sequence[Any],
    batches: Callable[[], tuple[Tensor, ...]],
    schedule: Schedule,
    watch: Watch,
) -> None:
    """Update until the schedule ends, or until someone asks to end, which is then done."""
    with held_back() as asked, watch.crew.watched():
        watch.crew.check_step(watch.state.step)
        ended = _run_steps(fabric, module, optimizers, batches, schedule, watch, asked)
    if not ended:
        raise KeyboardInterrupt


def _run_steps(
    fabric: Fabric,
    module: Any,
    optimizers: Sequence[Any],
    batches: Callable[[], tuple[Tensor, ...]],
    schedule: Schedule,
    watch: Watch,
    asked: Callable[[], bool],
) -> bool:
    """Update until the schedule ends; False if it was asked to end before."""
    state, crew = watch.state, watch.crew
    # Reading the loss makes the host wait for the device.
    look_every = 1 if fabric.device.type == "cpu" else _STEPS_BETWEEN_LOOKS
    module.train()
    agreed = crew.agree(0.0, watch.seconds(), asked())
    while not agreed.ends and (progress := schedule.progress(state.step, agreed.seconds)) < 1:
        state.set_rates(schedule.factor(state.step, agreed.seconds))
        with together(crew.ranks):
            loss = module(*crew.share(batches()), progress=progress)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        fabric.backward(loss)
        for optimizer in optimizers:
            optimizer.step()
        state.step += 1
        looks = state.step % look_every == 0 or watch.is_due()
        if looks:
            agreed = crew.agree(float(loss.detach()), watch.seconds(), asked())
            watch.look(agreed.loss)
        elif crew.ranks.size == 1:
            agreed = crew.agree(0.0, watch.seconds(), asked())
    if agreed.ends:
        watch.save()
    return not agreed.ends
