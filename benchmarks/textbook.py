"""InfoNCE as a textbook writes it, every difference in memory: what the streaming loss is compared with."""

from __future__ import annotations

import torch
from torch import Tensor


def textbook_info_nce(anchors: Tensor, positives: Tensor, power: float | None) -> Tensor:
    """Eq. 1 (`power` None: dot product) or Eq. 6, with the other anchors of the batch as negatives."""
    if power is None:
        negative, positive = anchors @ anchors.T, (anchors * positives).sum(dim=1)
    else:
        negative = -(anchors[:, None] - anchors[None]).abs().pow(power).sum(dim=-1)
        positive = -(anchors - positives).abs().pow(power).sum(dim=-1)
    itself = torch.eye(len(anchors), dtype=torch.bool)
    logits = torch.cat([positive[:, None], negative.masked_fill(itself, -torch.inf)], dim=1)
    return (torch.logsumexp(logits, dim=1) - positive).mean()
