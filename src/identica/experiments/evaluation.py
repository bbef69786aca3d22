"""What a run is scored on: samples that its source draws, or those that it keeps apart."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import final

import torch
from torch import Tensor

from identica._random import random_stream
from identica.encoders import rows_at_once
from identica.learners import Learner
from identica.sources import LabelledSource, Part, SplitSource

__all__ = ["DrawnSamples", "Evaluation", "PartOfSource", "evaluations"]

_EVALUATION_SAMPLES, _EVALUATION_ENTRIES = 4096, 1 << 27
# Samples of a part that are kept for pictures, and that are scored during training.
_KEPT_SAMPLES = 1024


class Evaluation(ABC):
    """Samples with known factors.

    Attributes:
        factors: Of all of them, [samples, factors].
        observations: Of the first of them.
    """

    factors: Tensor
    observations: Tensor

    @abstractmethod
    def codes(self, learner: Learner) -> Tensor:
        """Codes of all of them, [samples, codes]."""

    @torch.no_grad()
    def first_codes(self, learner: Learner) -> Tensor:
        """Codes of the first of them, as many as there are observations."""
        pieces = torch.split(self.observations, rows_at_once(self.observations))
        return torch.cat([learner.codes(piece) for piece in pieces])


@final
class DrawnSamples(Evaluation):
    """Samples that a source draws, fewer if they are so large that they would fill the memory.

    Args:
        source: Where they come from.
        seed: Of the run.
        device: Where they are kept.
    """

    def __init__(self, source: LabelledSource, seed: int, device: str) -> None:
        count = max(2, min(_EVALUATION_SAMPLES, _EVALUATION_ENTRIES // max(1, math.prod(source.shape))))
        self.factors, self.observations = source.with_factors(count, random_stream(seed, "evaluation", device))

    def codes(self, learner: Learner) -> Tensor:
        return self.first_codes(learner)


@final
class PartOfSource(Evaluation):
    """All samples of one part of a source, read again whenever they are encoded.

    Args:
        source: Where they come from.
        part: Which part.
        device: Where to compute.
    """

    def __init__(self, source: SplitSource, part: Part, device: str) -> None:
        self._source, self._part, self._device = source, part, device
        self.factors = source.scored_factors(part).to(device)
        most = max(2, min(_KEPT_SAMPLES, _EVALUATION_ENTRIES // max(1, math.prod(source.shape))))
        self.observations = torch.cat(list(source.scored(part, most, device)))

    @torch.no_grad()
    def codes(self, learner: Learner) -> Tensor:
        pieces = self._source.scored(self._part, None, self._device)
        return torch.cat([learner.codes(piece) for piece in pieces])


def evaluations(source: LabelledSource, seed: int, device: str) -> dict[Part, Evaluation]:
    """What the runs of a source are scored on: `test`, and where the source keeps samples apart `training` too."""
    if not isinstance(source, SplitSource):
        return {"test": DrawnSamples(source, seed, device)}
    return {part: PartOfSource(source, part, device) for part in ("test", "training")}
