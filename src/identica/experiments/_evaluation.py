"""What a run is scored on: observations with their factors, drawn once, and the scores of their codes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from identica._words import percent
from identica.encoders import rows_at_once
from identica.learners import Learner
from identica.metrics import compute_scores
from identica.sources import LabelledSource, Source

__all__ = ["Evaluation", "as_numpy", "example_pairs", "identity", "summaries"]

_SAMPLES, _ENTRIES = 4096, 1 << 27
# Observations of more numbers than this are not scored themselves: a regression from pixels says little.
_MOST_SCORED_COLUMNS = 256
# Bytes of observations that are kept for pictures, and pairs of them.
_MOST_KEPT_BYTES = 1 << 24
_PAIRS = 24


@final
@dataclass(frozen=True)
class Evaluation:
    """Observations to score.

    Args:
        factors: [samples, factors].
        observations: [samples, …].
        kinds: Of the factors.
    """

    factors: Tensor
    observations: Tensor
    kinds: Sequence[str]

    @classmethod
    def drawn(cls, source: LabelledSource, generator: Generator) -> Evaluation:
        """Draw from a source: fewer if observations are so large that they would fill the memory."""
        count = max(2, min(_SAMPLES, _ENTRIES // max(1, math.prod(source.shape))))
        return cls(*source.with_factors(count, generator), [factor.kind for factor in source.factors])

    @torch.no_grad()
    def codes(self, learner: Learner) -> Tensor:
        """Codes of all observations."""
        pieces = torch.split(self.observations, rows_at_once(self.observations))
        return torch.cat([learner.codes(piece) for piece in pieces])

    def values(self, names: Sequence[str], learner: Learner) -> dict[str, float]:
        """Scores of a learner in percent."""
        found = compute_scores(names, self.factors, self.codes(learner), self.kinds)
        return {name: percent(score.value) for name, score in found.items()}

    @property
    def kept(self) -> Tensor:
        """The first observations, as many as are kept for pictures."""
        each = self.observations[0].numel() * self.observations.element_size()
        return self.observations[: max(1, _MOST_KEPT_BYTES // each)]


def summaries(names: Sequence[str], factors: Any, codes: Any, kinds: Sequence[str]) -> dict[str, Any]:
    """Scores of codes, as records have them."""
    return {name: score.summary() for name, score in compute_scores(names, factors, codes, kinds).items()}


def identity(names: Sequence[str], factors: Any, observations: Tensor, kinds: Sequence[str]) -> dict[str, float]:
    """Scores of the observations themselves, where they are vectors."""
    if observations.ndim != 2 or observations.shape[1] > _MOST_SCORED_COLUMNS:
        return {}
    found = compute_scores(names, factors, observations, kinds)
    return {name: percent(score.value) for name, score in found.items()}


def example_pairs(source: Source, generator: Generator) -> Mapping[str, Tensor]:
    """Some pairs to show, [pairs, 2, channels, height, width], by the name of their array; none if not of images."""
    if len(source.shape) != 3:
        return {}
    return {"pairs": torch.stack(source.distinct_pairs(_PAIRS, generator), dim=1)}


def as_numpy(values: Tensor) -> NDArray[Any]:
    """As the store keeps it, in single precision."""
    array: NDArray[Any] = values.detach().cpu().numpy()
    return array.astype(np.float32) if array.dtype == np.float64 else array
