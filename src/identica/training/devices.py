"""Where training runs."""

from __future__ import annotations

import torch

from identica._checks import InputError

__all__ = ["resolve_device"]


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
