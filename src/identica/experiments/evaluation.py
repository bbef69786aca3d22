"""What a run is scored on, samples that its source draws or keeps apart, and the scores of their codes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from identica._random import random_stream
from identica._words import percent
from identica.encoders import rows_at_once
from identica.fitting import held_out_bits
from identica.learners import Learner, LearnerSettings
from identica.metrics import compute_scores
from identica.models import Model
from identica.sources import LabelledSource, Part, Source, SplitSource

__all__ = [
    "PREFIXES",
    "DrawnSamples",
    "Evaluation",
    "PairBits",
    "PartOfSource",
    "as_numpy",
    "evaluations",
    "example_pairs",
    "identity",
    "summaries",
]

PREFIXES: dict[Part, str] = {"test": "", "training": "training_", "held_out": "held_out_"}
"""What the names of scores and arrays of a part start with."""

# Samples that are scored, as in the paper: of vectors, and of images.
_VECTORS, _IMAGES = 4096, 10_000
_EVALUATION_ENTRIES = 1 << 27
# Images, or samples of a part, that are kept for pictures and that are scored during training.
_KEPT_SAMPLES = 1024
# Observations of more numbers than this are not scored themselves: a regression from pixels says little.
_MOST_SCORED_COLUMNS = 256
# Bytes of observations that are kept for pictures, and pairs of them.
_MOST_KEPT_BYTES = 1 << 24
_PAIRS = 24
# Pairs whose bits are followed in training.
_PAIRS_FOLLOWED = 512


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

    @property
    def kept(self) -> Tensor:
        """The first observations, as many as are kept for pictures."""
        each = self.observations[0].numel() * self.observations.element_size()
        return self.observations[: max(1, _MOST_KEPT_BYTES // each)]

    def first_codes(self, learner: Learner) -> Tensor:
        """Codes of the first of them, as many as there are observations."""
        return _codes(learner, self.observations)


@final
class DrawnSamples(Evaluation):
    """Samples that a source draws, fewer if they are so large that they would fill the memory.

    Args:
        source: Where they come from.
        generator: What draws them.
    """

    def __init__(self, source: LabelledSource, generator: Generator) -> None:
        images = len(source.shape) == 3
        wanted = _IMAGES if images else _VECTORS
        count = max(2, min(wanted, _EVALUATION_ENTRIES // max(1, math.prod(source.shape))))
        self.factors, self._observations = source.with_factors(count, generator)
        self.observations = self._observations[: _KEPT_SAMPLES if images else count]

    def codes(self, learner: Learner) -> Tensor:
        return _codes(learner, self._observations)


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


@final
class PairBits:
    """What codes tell of their partners while a run trains: held-out evidence of how many steps the pairs bear.

    Nothing about the factors is in it. Followed where the learner assumes a law of pairs and the source has images, or
    holds pairs out.

    Args:
        source: Where pairs come from.
        settings: What is trained.
        seed: Of the choice of pairs.
        device: Where they are drawn.
    """

    def __init__(self, source: LabelledSource, settings: LearnerSettings, seed: int, device: str) -> None:
        unseen, assumed = source.held_out(), getattr(settings, "model", None)
        self.model: Model | None = assumed if isinstance(assumed, Model) else None
        self.pairs: dict[str, tuple[Tensor, Tensor]] = {}
        if self.model is None or (unseen is None and len(source.shape) == 1):
            return
        generator = random_stream(seed, "pairs of bits", device)
        if unseen is not None:
            self.pairs["held_out_bits"] = unseen.distinct_pairs(_PAIRS_FOLLOWED, generator)
        self.pairs["fitted_bits"] = source.distinct_pairs(_PAIRS_FOLLOWED, generator)

    def of(self, learner: Learner) -> dict[str, float]:
        """Mean bits a pair: of pairs that are held out, if there are such, and of pairs drawn as in training."""
        return {name: round(self._mean(learner, pairs), 4) for name, pairs in self.pairs.items()}

    def _mean(self, learner: Learner, pairs: tuple[Tensor, Tensor]) -> float:
        assert self.model is not None
        first, second = (_codes(learner, half).cpu() for half in pairs)
        with torch.enable_grad():  # widths are matched by their slope
            return float(held_out_bits(self.model, first, second).mean())


@torch.no_grad()
def _codes(learner: Learner, observations: Tensor) -> Tensor:
    """Codes of observations, a piece at a time."""
    return torch.cat([learner.codes(piece) for piece in torch.split(observations, rows_at_once(observations))])


def evaluations(source: LabelledSource, seed: int, device: str) -> dict[Part, Evaluation]:
    """What the runs of a source are scored on: `test` is for the main scores, `training` and `held_out` stand beside.

    A source that keeps samples apart is scored on these and on some that it trains on; any other on all that there is,
    and if a part of that is held out from training on this part too.
    """
    if isinstance(source, SplitSource):
        return {part: PartOfSource(source, part, device) for part in ("test", "training")}
    found: dict[Part, Evaluation] = {"test": DrawnSamples(source.whole(), random_stream(seed, "evaluation", device))}
    unseen = source.held_out()
    if unseen is not None:
        found["held_out"] = DrawnSamples(unseen, random_stream(seed, "held-out sample", device))
    return found


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
