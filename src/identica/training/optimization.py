"""Optimisers over all parameters of a learner, each parameter in one group."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch.optim import Adam, Optimizer

from identica._checks import InputError
from identica.learners import Learner, ParameterGroup, Role
from identica.recipes import TrainingSettings
from identica.training.muon import Muon

__all__ = ["check_groups", "make_optimizers"]


def make_optimizers(learner: Learner, settings: TrainingSettings) -> list[Optimizer]:
    """Muon for matrices and Adam for the rest, or Adam for all, with a learning rate for each role."""
    groups = check_groups(learner)
    rates: dict[Role, float] = {
        "matrices": settings.learning_rate,
        "vectors": settings.bias_learning_rate,
        "scales": settings.scale_learning_rate,
        "widths": settings.width_learning_rate,
    }
    by_muon = [group for group in groups if group.role == "matrices" and settings.optimizer == "muon"]
    by_adam: list[dict[str, Any]] = [
        {
            "params": group.parameters,
            "lr": rates[group.role],
            "scheduled": group.role not in ("scales", "widths") or settings.schedule_scales,
        }
        for group in groups
        if group not in by_muon
    ]
    matrices = [value for group in by_muon for value in group.parameters]
    found: list[Optimizer] = [Muon(matrices, settings.learning_rate)] if matrices else []
    # One pass over memory instead of ten; not worth it for the few vectors beside Muon.
    return [*found, Adam(by_adam, fused=True if settings.optimizer == "adam" else None)] if by_adam else found


def check_groups(learner: Learner) -> list[ParameterGroup]:
    """The learner's groups that are not empty; an error if a learnable parameter is in none, or in two."""
    groups = [group for group in learner.groups() if group.parameters]
    count = Counter(id(value) for group in groups for value in group.parameters)
    for name, value in learner.named_parameters():
        if value.requires_grad and count[id(value)] != 1:
            where = "none" if count[id(value)] == 0 else "two"
            raise InputError(
                f"each learnable parameter must be in one group of {type(learner).__name__}, but {name} is in {where}"
            )
    return groups
