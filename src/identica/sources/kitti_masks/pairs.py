"""Pairs of frames of one sequence, for training; single frames with their factors, for scores."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.sources.base import Factor, LabelledSource
from identica.sources.binary_images import BinaryImages
from identica.sources.kitti_masks.sequences import MaskSequences

__all__ = ["MaskPairs"]


@final
class MaskPairs(LabelledSource):
    """A frame and one that is 1 to so many frames later, of sequences that may be trained on.

    Anchors are uniform over all frames that have a next one, and so is the distance to the partner, over 1 to
    `max_lag`; where the sequence ends before, the partner is its last frame. Single masks are drawn without
    replacement.

    Args:
        sequences: All there are.
        max_lag: The largest distance.
        chosen: Numbers of the sequences that may be seen; all if not given.
        device: Where masks are kept.
    """

    def __init__(
        self, sequences: MaskSequences, max_lag: int = 1, chosen: Tensor | None = None, device: str = "cpu"
    ) -> None:
        self.max_lag = _checks.at_least_one("max_lag", max_lag)
        self.sequences, self.device = sequences, device
        packed = sequences.images
        self.images = packed if str(packed.bits.device) == device else BinaryImages(packed.bits.to(device), packed.size)
        self.shape = (1, *packed.size)
        self.factors = (Factor("y"), Factor("x"), Factor("area"))
        self.chosen = torch.arange(len(sequences)) if chosen is None else chosen
        seen = torch.isin(sequences.sequence_of_frames, self.chosen)
        left = sequences.frames_left
        self.frames = seen.nonzero().flatten()
        self.anchors = (seen & (left > 0)).nonzero().flatten()
        self.reach = left[self.anchors].clamp(max=self.max_lag)
        if not len(self.anchors):
            raise InputError(f"sequences must have frames with a next one, got none in {len(self.chosen)} of them")

    def __len__(self) -> int:
        return len(self.anchors)

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw anchors with replacement, and their partners."""
        return self._at(torch.randint(len(self), (count,), generator=generator, device=generator.device), generator)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` pairs of different anchors."""
        return self._at(torch.randperm(len(self), generator=generator, device=generator.device)[:count], generator)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` different masks."""
        return self._pictured(self._drawn(count, generator), generator)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` different masks: vertical and horizontal centre of mass and area, and the masks."""
        rows = self._drawn(count, generator)
        return self.sequences.factors[rows].float().to(generator.device), self._pictured(rows, generator)

    def whole(self) -> MaskPairs:
        """The same with all sequences."""
        return self._with(None)

    def held_out(self) -> MaskPairs | None:
        """The same with the sequences that this one never shows, if there are any."""
        others = torch.ones(len(self.sequences), dtype=torch.bool)
        others[self.chosen] = False
        return self._with(others.nonzero().flatten()) if others.any() else None

    def steps(self) -> Tensor:
        """How the factors change from each frame to the one `max_lag` frames later, [pairs, 3]."""
        far = self.anchors[self.reach == self.max_lag]
        return self.sequences.factors[far + self.max_lag] - self.sequences.factors[far]

    def _with(self, chosen: Tensor | None) -> MaskPairs:
        return MaskPairs(self.sequences, self.max_lag, chosen, self.device)

    def _at(self, chosen: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        lags = torch.randint(self.max_lag, (len(chosen),), generator=generator, device=generator.device).cpu() + 1
        rows = chosen.cpu()
        first = self.anchors[rows]
        second = first + torch.minimum(lags, self.reach[rows])
        return self._pictured(first, generator), self._pictured(second, generator)

    def _drawn(self, count: int, generator: Generator) -> Tensor:
        order = torch.randperm(len(self.frames), generator=generator, device=generator.device)
        return self.frames[order[:count].cpu()]

    def _pictured(self, rows: Tensor, generator: Generator) -> Tensor:
        return self.images.floats(rows).to(generator.device)
