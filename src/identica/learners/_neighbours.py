"""Batches of anchors that are hard to tell apart by what is known of them so far."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor, nn

from identica._ranks import gathered

__all__ = ["Neighbourhoods"]

# The code of an anchor that was not seen yet: such anchors are near to one another, and to no other.
_UNSEEN = 1e4
_SEEN_FIRST = 0.5


@final
class Neighbourhoods(nn.Module):
    """The latest code of every anchor, and batches made of those that have others next to them.

    Two strangers that differ in a factor that is known are easy to tell apart, and teach nothing about those that are
    not. Among many factors nearly all strangers are so. Strangers whose codes are near to each other agree in what is
    known: only what is not yet known tells them apart.

    Args:
        count: How many anchors there are.
        dim: Number of codes.
        size: Anchors of a batch that are near to one another.
    """

    codes: Tensor

    def __init__(self, count: int, dim: int, size: int) -> None:
        super().__init__()
        self.size = min(size, count)
        self.register_buffer("codes", torch.full((count, dim), _UNSEEN))

    def draw(self, count: int, generator: Generator) -> Tensor:
        """Numbers of anchors for a batch: drawn by chance, until half of all were seen; then in neighbourhoods."""
        anchors, device = len(self.codes), generator.device
        if float((self.codes[:, 0] < _UNSEEN).float().mean()) < _SEEN_FIRST:
            return torch.randint(anchors, (count,), generator=generator, device=device)
        centres = torch.randint(anchors, (-(-count // self.size),), generator=generator, device=device)
        known = self.codes.to(device)
        distances = torch.cdist(known[centres], known, compute_mode="donot_use_mm_for_euclid_dist")
        return distances.topk(self.size, dim=1, largest=False).indices.flatten()[:count]

    @torch.no_grad()
    def remember(self, rows: Tensor, codes: Tensor) -> None:
        """Keep these codes of these anchors, and those that other processes have of theirs."""
        self.codes[gathered(rows)] = gathered(codes.detach()).to(self.codes)
