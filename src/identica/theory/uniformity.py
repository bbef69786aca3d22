"""Appendix A.5: the half of InfoNCE that spreads codes out keeps h a bijection; the other half by itself does not."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica.encoders import Encoder
from identica.laws import Conditional, Marginal, Uniform, VonMisesFisher
from identica.metrics import linear_r2
from identica.models import Model
from identica.objectives import DotProduct, InfoNCE
from identica.processes import LeakyReLUMixing, SyntheticProcess
from identica.protocols import Protocol, make_protocol
from identica.spaces import Sphere
from identica.theory.volume import Volume, measure_volume
from identica.training import train

__all__ = ["TrainedHalves", "take_halves_away"]

# The half of InfoNCE that draws partners together, or the one that drives strangers apart.
_Half = Literal["alignment", "uniformity"]

_SPACE = Sphere(5)
_CONDITIONAL = VonMisesFisher(5.0)
_SAMPLES = 2048
_LEARNING_RATE = 0.02
# Part of the steps that a trained encoder goes on for with one half of its loss.
_GOES_ON_FOR = 1 / 3


@final
@dataclass(frozen=True)
class TrainedHalves:
    """What an h kept of the latents that was trained with a half of InfoNCE, or with both.

    Args:
        loss: What it was trained with, in words.
        volume: Its volume ratio over the sphere.
        r2: How much of the latents a linear map of the codes explains.
    """

    loss: str
    volume: Volume
    r2: float

    def summary(self) -> dict[str, Any]:
        """As plain data; R² in percent."""
        return {"loss": self.loss, "R²": round(100 * self.r2, 2), **self.volume.summary()}


def take_halves_away(*, steps: int = 1500, seed: int = 0) -> list[TrainedHalves]:
    """Train an encoder, then let it go on with each half of the loss alone; and one with uniformity from the start.

    Points on a sphere in five dimensions are mixed, and their pairs follow a von Mises–Fisher law.

    Args:
        steps: Number of updates with the whole loss; a third of it with a half.
        seed: Of the mixing, the weights and the pairs.
    """
    _checks.at_least_one("steps", steps)
    _checks.seed("seed", seed)
    experiment = _Experiment(seed)
    trained = experiment.train(experiment.encoder(), ("alignment", "uniformity"), steps)
    further = max(1, round(steps * _GOES_ON_FOR))
    without_alignment = experiment.train(copy.deepcopy(trained), ("uniformity",), further)
    without_uniformity = experiment.train(copy.deepcopy(trained), ("alignment",), further)
    from_the_start = experiment.train(experiment.encoder(), ("uniformity",), steps)
    return [
        experiment.look_at("both halves", trained),
        experiment.look_at("both, then uniformity alone", without_alignment),
        experiment.look_at("both, then alignment alone", without_uniformity),
        experiment.look_at("uniformity alone from the start", from_the_start),
    ]


class _Experiment:
    """One mixing, its pairs, and the points to look at."""

    def __init__(self, seed: int) -> None:
        self.generator = Generator().manual_seed(seed)
        mixing = LeakyReLUMixing.draw(_SPACE.dim, generator=self.generator)
        self.process = SyntheticProcess(Marginal(_SPACE, Uniform()), Conditional(_SPACE, _CONDITIONAL), mixing)
        self.latents, self.observations = self.process.labelled(_SAMPLES, self.generator)
        # The radius that matches the conditional is given, so that half a loss cannot do its work by another one.
        self.protocol: Protocol = replace(
            make_protocol("fast", Model("sphere", "vmf"), _SPACE.dim),
            learning_rate=_LEARNING_RATE,
            scale_start=math.sqrt(_CONDITIONAL.kappa),
            scale_learning_rate=0.0,
        )

    def encoder(self) -> Encoder:
        return self.protocol.encoder("sphere", _SPACE.dim, self.observations, self.generator)

    def train(self, encoder: Encoder, halves: tuple[_Half, ...], steps: int) -> Encoder:
        protocol = self.protocol.with_steps(steps)
        # Without the positive in the denominator, uniformity is about strangers alone.
        objective = InfoNCE(DotProduct(), positive_in_denominator=False, in_batch=protocol.in_batch)
        task = _SomeHalves(self.process, objective, halves, protocol.batch_size)
        optimizers = protocol.optimizers(encoder)
        train(encoder, task, optimizers, protocol.schedule, generator=self.generator, device="cpu")
        return encoder

    def look_at(self, loss: str, encoder: Encoder) -> TrainedHalves:
        encoder.eval()
        with torch.no_grad():
            codes = encoder(self.observations)
        volume = measure_volume(lambda z: encoder(self.process.mixing(z)), self.latents, _SPACE)
        return TrainedHalves(loss, volume, linear_r2(self.latents, codes).value)


@final
@dataclass(frozen=True)
class _SomeHalves:
    """A task whose loss is one half of InfoNCE, or both."""

    process: SyntheticProcess
    objective: InfoNCE
    halves: tuple[_Half, ...]
    batch_size: int

    def loss(self, encoder: nn.Module, generator: Generator, progress: float = 0.0) -> Tensor:
        anchors, positives = encoder(torch.cat(self.process.pairs(self.batch_size, generator))).chunk(2)
        parts = self.objective.parts(anchors, positives)._asdict()
        return torch.stack([parts[half] for half in self.halves]).sum()
