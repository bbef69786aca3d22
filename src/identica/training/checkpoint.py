"""All that a step depends on, and how it is saved."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from identica._checks import InputError
from identica._machine import versions
from identica._tensors import load_tensors, save_tensors

__all__ = ["Curve", "State"]

Curve = list[dict[str, float]]
"""Step, loss, named parts of the loss and scores at the steps that were reported."""

_FORMAT = 2


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
        tensors = {f"learner.{name}": value for name, value in self.learner.state_dict().items()}
        tensors["generator"] = self.generator.get_state()
        tensors["torch"] = torch.get_rng_state()  # for modules of the user's own that draw, such as dropout
        for index, optimizer in enumerate(self.optimizers):
            for parameter, entries in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{index}.{parameter}.{key}": value for key, value in entries.items()}
        progress = {"step": self.step, "seconds": self.seconds, "curve": self.curve}
        words = {"format": _FORMAT, "versions": versions(), "progress": progress}
        save_tensors(path, tensors, {name: json.dumps(value) for name, value in words.items()})

    def resume(self, path: Path) -> None:
        """Go on from what `save` wrote, if it can be used; otherwise say why not, and start at the first step."""
        if not path.exists():
            return
        try:
            tensors, progress = self._read(path)
        except InputError as error:
            warnings.warn(f"training starts again at the first step: {error}", stacklevel=2)
            return
        self.learner.load_state_dict(_behind("learner.", tensors))
        self.generator.set_state(tensors["generator"])
        torch.set_rng_state(tensors["torch"])
        for index, optimizer in enumerate(self.optimizers):
            entries: dict[int, dict[str, Tensor]] = {}
            for name, value in _behind(f"optimizer.{index}.", tensors).items():
                parameter, key = name.split(".")
                entries.setdefault(int(parameter), {})[key] = value
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": entries, "param_groups": groups})
            _lay_out_as_parameters(optimizer)
        self.step, self.seconds, self.curve = progress["step"], progress["seconds"], progress["curve"]

    def _read(self, path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and progress; an error if they are damaged, or of another version or learner."""
        tensors, words = load_tensors(path, sealed=True)
        for name, expected in (("format", _FORMAT), ("versions", versions())):
            found = json.loads(words.get(name, "null"))
            if found != expected:
                raise InputError(f"{str(path)!r} must be a checkpoint of {name} {expected}, got {found}")
        shapes = {name: value.shape for name, value in _behind("learner.", tensors).items()}
        if shapes != {name: value.shape for name, value in self.learner.state_dict().items()}:
            raise InputError(f"{str(path)!r} is a checkpoint of another learner: names or shapes of tensors differ")
        return tensors, json.loads(words["progress"])


def _lay_out_as_parameters(optimizer: Optimizer) -> None:
    """Order the state in memory as parameters are: files keep no order, and fused optimisers take it for granted."""
    for parameter, entries in optimizer.state.items():
        for key, value in entries.items():
            if value.shape == parameter.shape:
                entries[key] = torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)


def _behind(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
