"""Observations through a network, in batches."""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

__all__ = ["encode", "rows_at_once"]

_MOST_ROWS = 4096
_MOST_ENTRIES = 1 << 22


def rows_at_once(observations: Tensor) -> int:
    """How many observations go through a network in one piece: fewer if they are large."""
    return max(1, min(_MOST_ROWS, _MOST_ENTRIES // max(1, math.prod(observations.shape[1:]))))


@torch.no_grad()
def encode(network: nn.Module, observations: Tensor, device: str | torch.device | None = None) -> Tensor:
    """Outputs of a copy of the network in evaluation mode, on the CPU in double precision.

    On the CPU the network computes in double precision too: a row's code must not depend on the rows beside it.

    Args:
        network: Any module.
        observations: [count, …], floating point or bytes.
        device: Where to compute; where the observations are if not given.
    """
    where = observations.device if device is None else torch.device(device)
    precision = torch.float64 if where.type == "cpu" else torch.float32
    module = copy.deepcopy(network).to(where, precision).eval()
    pieces = [
        module(piece.to(where, precision if piece.is_floating_point() else None)).cpu().double()
        for piece in torch.split(observations, rows_at_once(observations))
    ]
    return torch.cat(pieces)
