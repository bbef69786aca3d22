"""Processes that train one learner together: set up, kept in step, and told when one of them is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from identica._checks import InputError, LostRankError
from identica._launched import Ranks
from identica.training.devices import resolve_device

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from lightning_fabric.loggers.logger import Logger

__all__ = ["Agreed", "Crew", "make_fabric"]

# A rank that is killed is noticed at once, by its closed connection; one whose machine is gone, after this time.
_SILENCE = timedelta(minutes=15)
# What the libraries of communication write into their errors.
_COMMUNICATION = ("gloo", "nccl", "connection", "socket", "peer")


class Agreed(NamedTuple):
    """What all ranks go by: the loss of the whole batch, the clock of the first, and whether any was asked to end."""

    loss: float
    seconds: float
    ends: bool


def make_fabric(device: str, precision: str, ranks: Ranks, loggers: Sequence[Logger] = ()) -> Fabric:
    """Lightning Fabric on one device, or with one of several ranks that share each batch."""
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy

    accelerator, _, number = resolve_device(device).partition(":")
    if ranks.size == 1:
        devices = [int(number)] if number else 1
        return Fabric(accelerator=accelerator, devices=devices, precision=precision, loggers=list(loggers))  # type: ignore[arg-type]
    if accelerator == "mps":
        raise InputError("device must be cpu or cuda for several processes, got mps")
    fabric = Fabric(
        accelerator=accelerator,
        devices=ranks.size // ranks.nodes,
        num_nodes=ranks.nodes,
        precision=precision,  # type: ignore[arg-type]
        # Buffers are computed from the whole batch, so that all ranks have the same.
        strategy=DDPStrategy(timeout=_SILENCE, broadcast_buffers=False),
        loggers=list(loggers),
    )
    fabric.launch()
    return fabric


class Crew:
    """The ranks of one training.

    Args:
        ranks: Which of how many this is.
        device: Where their numbers meet.
    """

    def __init__(self, ranks: Ranks, device: torch.device) -> None:
        self.ranks, self.device = ranks, device

    def share(self, batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """This rank's part of a batch that all ranks have drawn alike."""
        uneven = [len(values) for values in batch if len(values) % self.ranks.size]
        if uneven:
            raise InputError(
                f"a batch must have as many rows for each of {self.ranks.size} processes, got {uneven[0]} rows"
            )
        return tuple(map(self.ranks.part, batch))

    def agree(self, loss: float, seconds: float, ends: bool) -> Agreed:
        """One decision for all; the ranks' losses are means over parts of one size."""
        if self.ranks.size == 1:
            return Agreed(loss, seconds, ends)
        found = self._sum([loss / self.ranks.size, seconds if self.ranks.is_first else 0.0, float(ends)])
        return Agreed(found[0], found[1], found[2] > 0)

    def means(self, parts: Mapping[str, Tensor]) -> dict[str, float]:
        """Named numbers of the whole batch."""
        found = {name: float(value) for name, value in parts.items()}
        if self.ranks.size == 1 or not found:
            return found
        total = self._sum([value / self.ranks.size for value in found.values()])
        return dict(zip(found, total, strict=True))

    def check_step(self, step: int) -> None:
        """Raise on every rank unless all go on from the same step."""
        if self.ranks.size == 1:
            return
        steps = [0.0] * self.ranks.size
        steps[self.ranks.rank] = float(step)
        found = {int(one) for one in self._sum(steps)}
        if len(found) > 1:
            raise InputError(
                f"all processes must go on from one step, got {sorted(found)}: they must share the folder of the run"
            )

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Say so if another rank is gone."""
        try:
            yield
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            if self.ranks.size == 1 or not any(word in reason.lower() for word in _COMMUNICATION):
                raise
            raise LostRankError(
                f"process {self.ranks.rank} of {self.ranks.size} ends, since another one is gone; the same command "
                f"goes on from the last checkpoint ({reason[:160]})"
            ) from None

    def _sum(self, values: list[float]) -> list[float]:
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        torch.distributed.all_reduce(total)
        return [float(value) for value in total]
