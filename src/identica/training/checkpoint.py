"""All that a step depends on, and how it is saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from identica._files import replacing

__all__ = ["Curve", "State"]

Curve = list[dict[str, float]]
"""Step, loss, named parts of the loss and scores at the steps that were reported."""


class State:
    """All that a step depends on, and how it is saved: one file of tensors, never code."""

    def __init__(self, learner: nn.Module, optimizers: Sequence[Optimizer], generator: Generator) -> None:
        self.learner, self.optimizers, self.generator = learner, optimizers, generator
        self.step, self.seconds = 0, 0.0
        self.curve: Curve = []
        self._rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]

    def set_rates(self, factor: float) -> None:
        """Multiply the learning rates of all scheduled groups."""
        for optimizer, rates in zip(self.optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor if group.get("scheduled", True) else rate

    def save(self, path: Path) -> None:
        """Write everything into one file."""
        from safetensors.torch import save_file

        tensors = {f"learner.{name}": value for name, value in self.learner.state_dict().items()}
        tensors["generator"] = self.generator.get_state()
        for index, optimizer in enumerate(self.optimizers):
            for parameter, entries in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{index}.{parameter}.{key}": value for key, value in entries.items()}
        progress = {"step": self.step, "seconds": self.seconds, "curve": self.curve}
        contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
        with replacing(path) as unfinished:
            save_file(contiguous, unfinished, metadata={"progress": json.dumps(progress)})

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            progress: dict[str, Any] = json.loads(file.metadata()["progress"])
        self.generator.set_state(tensors.pop("generator"))
        prefix = "learner."
        self.learner.load_state_dict(
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
