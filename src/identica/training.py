"""The training loop: device, precision, schedule, checkpoint and exact resume. It knows no metric."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, final

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from identica import _checks
from identica._checks import InputError
from identica._files import replacing
from identica.objectives import InfoNCE, mean_squared_error
from identica.processes import Process, SyntheticProcess

__all__ = [
    "Contrastive",
    "Curve",
    "DivergenceError",
    "Schedule",
    "Supervised",
    "Task",
    "Trained",
    "resolve_device",
    "train",
]

_STEPS_BETWEEN_LOOKS = 20

Curve = list[dict[str, float]]
"""Step, loss and scores at the steps that were reported."""
Evaluate = Callable[[nn.Module], Mapping[str, float]]
Report = Callable[[int, float, Mapping[str, float]], None]


class DivergenceError(RuntimeError):
    """The loss became NaN or infinite; training ended early."""


class Task(Protocol):
    """What one step computes: draw a batch, encode it, return the loss."""

    def loss(self, encoder: nn.Module, generator: Generator, progress: float = 0.0) -> Tensor:
        """Loss of `encoder` on a fresh batch, when this part of the steps (0 to 1) is done."""
        ...


@final
@dataclass(frozen=True)
class Contrastive:
    """InfoNCE on positive pairs; both halves of a pair go through the encoder in one pass.

    Args:
        process: Where pairs come from.
        objective: What is minimised.
        batch_size: Number of pairs.
        first_objective: What is minimised at first, if not the same.
        first_until: Part of the steps that takes.
        backward: Swap the halves of each pair: tell from z~ which z it came from. With other z as negatives the log
            ratio p(z | z~) / p(z) is log p(z~ | z) up to a function of z~, whatever the marginal; forwards, that holds
            for a uniform one alone.
    """

    process: Process
    objective: InfoNCE
    batch_size: int
    first_objective: InfoNCE | None = None
    first_until: float = 0.0
    backward: bool = False

    def __post_init__(self) -> None:
        if _checks.at_least_one("batch_size", self.batch_size) < 2:
            raise InputError(f"batch_size must be at least 2, got {self.batch_size}")

    def loss(self, encoder: nn.Module, generator: Generator, progress: float = 0.0) -> Tensor:
        """Loss of `encoder` on a fresh batch of pairs."""
        anchors, positives = encoder(torch.cat(self.process.pairs(self.batch_size, generator))).chunk(2)
        if self.backward:
            anchors, positives = positives, anchors
        if self.first_objective is not None and progress < self.first_until:
            return self.first_objective(anchors, positives)
        return self.objective(anchors, positives)


@final
@dataclass(frozen=True)
class Supervised:
    """Mean squared error against known latents: the upper bound of the tables."""

    process: SyntheticProcess
    batch_size: int

    def loss(self, encoder: nn.Module, generator: Generator, progress: float = 0.0) -> Tensor:
        """Loss of `encoder` on a fresh batch of labelled observations."""
        latents, observations = self.process.labelled(self.batch_size, generator)
        return mean_squared_error(encoder(observations), latents)


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


@final
@dataclass
class Trained:
    """What is left after training: the curve of losses and scores, and the seconds spent (over all sessions)."""

    curve: Curve = field(default_factory=list)
    seconds: float = 0.0


def resolve_device(device: str) -> str:
    """The device behind `auto`, or `device` itself if this machine has it."""
    available = ["cpu"]
    if torch.backends.mps.is_available():
        available.insert(0, "mps")
    if torch.cuda.is_available():
        available.insert(0, "cuda")
    if device == "auto":
        return available[0]
    if device not in available:
        raise InputError(f"device {device!r} is not available here: allowed: auto, {', '.join(available)}")
    return device


def train(
    encoder: nn.Module,
    task: Task,
    optimizers: Sequence[Optimizer],
    schedule: Schedule,
    *,
    generator: Generator,
    device: str = "auto",
    precision: str = "32-true",
    evaluate: Evaluate | None = None,
    evaluate_every: int = 0,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 15.0,
    report: Report | None = None,
) -> Trained:
    """Minimise the task's loss over the encoder's parameters, in place.

    Args:
        encoder: The network.
        task: Draws batches and computes the loss.
        optimizers: Over the encoder's parameters.
        schedule: Number of steps and learning-rate factors.
        generator: Source of the batches, on the resolved device.
        device: `auto`, `cpu`, `cuda` or `mps`.
        precision: As Lightning Fabric names it, such as `32-true` or `bf16-mixed`.
        evaluate: Scores for the curve; must not draw from `generator`.
        evaluate_every: Steps between evaluations; 0 for the last step only.
        checkpoint: File to resume from if it exists, and to save to; a run that was cut off at any point and
            started again ends exactly as one that was not.
        checkpoint_seconds: Time between saves.
        report: Called with the step, the loss and the latest scores; on the CPU after every step.
    """
    from lightning_fabric import Fabric

    fabric = Fabric(accelerator=resolve_device(device), devices=1, precision=precision)  # type: ignore[arg-type]
    module, *wrapped = fabric.setup(encoder, *optimizers)
    state = _State(encoder, optimizers, generator)
    if checkpoint is not None and checkpoint.exists():
        state.load(checkpoint)
    watch = _Watch(state, schedule.steps, evaluate, evaluate_every, checkpoint, checkpoint_seconds, report)
    # Reading the loss makes the host wait for the device.
    look_every = 1 if fabric.device.type == "cpu" else _STEPS_BETWEEN_LOOKS
    module.train()
    while (progress := schedule.progress(state.step, elapsed := watch.seconds())) < 1:
        state.set_rates(schedule.factor(state.step, elapsed))
        loss = task.loss(module, generator, progress)
        for optimizer in wrapped:
            optimizer.zero_grad(set_to_none=True)
        fabric.backward(loss)
        for optimizer in wrapped:
            optimizer.step()
        state.step += 1
        if state.step % look_every == 0 or watch.is_due():
            watch.look(module, float(loss.detach()))
    return Trained(state.curve, watch.seconds())


class _Watch:
    """What happens between steps: the check for divergence, scores, progress and checkpoints."""

    def __init__(
        self,
        state: _State,
        steps: int,
        evaluate: Evaluate | None,
        evaluate_every: int,
        checkpoint: Path | None,
        checkpoint_seconds: float,
        report: Report | None,
    ) -> None:
        self.state, self.steps, self.report = state, steps, report
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

    def look(self, module: nn.Module, loss: float) -> None:
        state = self.state
        if not math.isfinite(loss):
            raise DivergenceError(
                f"the loss became {loss} at step {state.step} of {self.steps}: lower the learning rate"
            )
        if self.evaluate is not None and self.is_due():
            self.scores = _evaluated(module, self.evaluate)
            state.curve.append({"step": state.step, "loss": loss, **self.scores})
        if self.report is not None:
            self.report(state.step, loss, self.scores)
        overdue = time.monotonic() - self._saved >= self.checkpoint_seconds
        if self.checkpoint is not None and overdue and state.step < self.steps:
            state.seconds = self.seconds()
            state.save(self.checkpoint)
            self._saved = time.monotonic()


def _evaluated(module: nn.Module, evaluate: Evaluate) -> Mapping[str, float]:
    module.eval()
    try:
        with torch.no_grad():
            return evaluate(module)
    finally:
        module.train()


class _State:
    """All that a step depends on, and how it is saved: one file of tensors, never code."""

    def __init__(self, encoder: nn.Module, optimizers: Sequence[Optimizer], generator: Generator) -> None:
        self.encoder, self.optimizers, self.generator = encoder, optimizers, generator
        self.step, self.seconds = 0, 0.0
        self.curve: Curve = []
        self._rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]

    def set_rates(self, factor: float) -> None:
        for optimizer, rates in zip(self.optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor if group.get("scheduled", True) else rate

    def save(self, path: Path) -> None:
        from safetensors.torch import save_file

        tensors = {f"encoder.{name}": value for name, value in self.encoder.state_dict().items()}
        tensors["generator"] = self.generator.get_state()
        for index, optimizer in enumerate(self.optimizers):
            for parameter, entries in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{index}.{parameter}.{key}": value for key, value in entries.items()}
        progress = {"step": self.step, "seconds": self.seconds, "curve": self.curve}
        contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
        with replacing(path) as unfinished:
            save_file(contiguous, unfinished, metadata={"progress": json.dumps(progress)})

    def load(self, path: Path) -> None:
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            progress: dict[str, Any] = json.loads(file.metadata()["progress"])
        self.generator.set_state(tensors.pop("generator"))
        prefix = "encoder."
        self.encoder.load_state_dict(
            {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        )
        for index, optimizer in enumerate(self.optimizers):
            entries: dict[int, dict[str, Tensor]] = {}
            for name, value in tensors.items():
                if name.startswith(f"optimizer.{index}."):
                    parameter, key = name.split(".")[2:]
                    entries.setdefault(int(parameter), {})[key] = value
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": entries, "param_groups": groups})
        self.step, self.seconds, self.curve = progress["step"], progress["seconds"], progress["curve"]
