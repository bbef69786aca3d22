"""Where training runs."""

from __future__ import annotations

import torch

from identica._checks import InputError

__all__ = ["resolve_device"]


def resolve_device(device: str | torch.device) -> str:
    """The device behind `auto`, or `device` itself if this machine has it: `cpu`, `cuda`, `cuda:1`, `mps`."""
    available = ["cpu"]
    if torch.backends.mps.is_available():
        available.insert(0, "mps")
    if torch.cuda.is_available():
        available = ["cuda", *(f"cuda:{number}" for number in range(torch.cuda.device_count())), *available]
    name = str(device)
    if name == "auto":
        return available[0]
    if name not in available:
        raise InputError(f"device {name!r} is not available here: allowed: auto, {', '.join(available)}")
    return name
