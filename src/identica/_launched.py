"""Which of several processes this is, if torchrun or SLURM started them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ALONE", "Ranks", "launched"]


class Ranks(NamedTuple):
    """Which of how many processes this is."""

    rank: int
    size: int
    nodes: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes and decides."""
        return self.rank == 0

    def part(self, values: Tensor) -> Tensor:
        """This rank's rows of a batch that all ranks have."""
        return values if self.size == 1 else values.chunk(self.size)[self.rank]


ALONE = Ranks(0, 1)
"""A process by itself."""


def launched() -> Ranks:
    """Which of how many processes this is, as torchrun or a step of SLURM (srun) tell it."""
    found = os.environ
    if "TORCHELASTIC_RUN_ID" in found:
        count = int(found["WORLD_SIZE"])
        return Ranks(int(found["RANK"]), count, count // int(found["LOCAL_WORLD_SIZE"]))
    if "SLURM_STEP_NUM_TASKS" in found:
        return Ranks(int(found["SLURM_PROCID"]), int(found["SLURM_STEP_NUM_TASKS"]), int(found["SLURM_STEP_NUM_NODES"]))
    return ALONE
