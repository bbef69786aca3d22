"""How a row is trained: the authors' settings, or a recipe that reaches their scores in minutes on a laptop."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, final

from torch import Generator, Tensor, nn
from torch.optim import Adam, Optimizer

from identica import _checks
from identica.encoders import MLP, Encoder, Initialisation, Scale, Whitening, make_head
from identica.experiments.definition import Model, Row
from identica.objectives import InfoNCE, PowerDistance
from identica.optimizers import Muon
from identica.training import Schedule

__all__ = ["PROTOCOLS", "Protocol", "make_protocol"]

PROTOCOLS = ("fast", "paper")


@final
@dataclass(frozen=True)
class Protocol:
    """Settings of one training run.

    Args:
        name: `fast` or `paper`.
        steps: Number of updates.
        batch_size: Pairs in a batch; the other anchors of the batch are the negatives.
        widths: Hidden widths of the encoder.
        slope: Slope of its leaky ReLUs below zero.
        initialisation: Of its weights.
        whiten: Make the covariance of the observations even first, with or without subtracting their mean.
        optimizer: `adam` for all parameters, or `muon` for matrices and `adam` for the rest.
        learning_rate: Of the matrices.
        bias_learning_rate: Of the biases.
        scale_start: First value of the head's radius or bound.
        scale_learning_rate: Of the head's scale.
        logarithmic_scale: Learn the logarithm of that scale, at a constant rate.
        standardise: Keep the scale of unbounded codes in the head, not in the weights.
        warmup: Steps of linear warm-up.
        cosine: Let the learning rate fall to zero along a cosine.
        threads: Threads of the process that trains; 0 for all cores.
    """

    name: str
    steps: int
    batch_size: int
    widths: tuple[int, ...]
    slope: float
    initialisation: Initialisation
    whiten: Literal["no", "centred", "uncentred"]
    optimizer: Literal["adam", "muon"]
    learning_rate: float
    bias_learning_rate: float
    scale_start: float
    scale_learning_rate: float
    logarithmic_scale: bool
    standardise: bool
    warmup: int
    cosine: bool
    threads: int

    def with_steps(self, steps: int) -> Protocol:
        """The same protocol, shortened or lengthened."""
        return replace(self, steps=_checks.at_least_one("steps", steps))

    @property
    def schedule(self) -> Schedule:
        """Number of steps and learning-rate factors."""
        return Schedule(self.steps, self.warmup, self.cosine)

    def objective(self, model: Model) -> InfoNCE:
        """InfoNCE with the model's similarity, τ = 1 and the batch's other anchors as negatives."""
        return InfoNCE(model.similarity)

    def encoder(self, model_space: str, dim: int, sample: Tensor, generator: Generator) -> Encoder:
        """An encoder from observations like `sample` to `dim` codes in the model's space."""
        backbone = MLP(
            sample.shape[1],
            dim,
            self.widths,
            slope=self.slope,
            initialisation=self.initialisation,
            generator=generator,
        )
        head = make_head(
            model_space,
            dim,
            self.scale_start,
            logarithmic=self.logarithmic_scale,
            standardise=self.standardise,
        )
        whitening = None if self.whiten == "no" else Whitening.fit(sample, centre=self.whiten == "centred")
        return Encoder(backbone, head, whitening)

    def optimizers(self, encoder: Encoder) -> list[Optimizer]:
        """Optimisers over all learnable parameters of `encoder`."""
        scales = [module.raw for module in encoder.modules() if isinstance(module, Scale)]
        matrices = [value for value in encoder.backbone.parameters() if value.ndim >= 2]
        others = [value for value in encoder.backbone.parameters() if value.ndim < 2]
        groups = [
            {"params": others, "lr": self.bias_learning_rate},
            {"params": scales, "lr": self.scale_learning_rate, "scheduled": not self.logarithmic_scale},
        ]
        if self.optimizer == "muon":
            return [Muon(_learnable(matrices), self.learning_rate), Adam(_nonempty(groups))]
        return [Adam(_nonempty([{"params": matrices, "lr": self.learning_rate}, *groups]))]


def _learnable(parameters: list[nn.Parameter]) -> list[nn.Parameter]:
    return [parameter for parameter in parameters if parameter.requires_grad]


def _nonempty(groups: list[dict[str, object]]) -> list[dict[str, object]]:
    kept = [{**group, "params": _learnable(group["params"])} for group in groups]  # type: ignore[arg-type]
    return [group for group in kept if group["params"]]


def make_protocol(name: str, row: Row, *, supervised: bool = False) -> Protocol:
    """The protocol of that name for a row; `fast` looks at the model's space and α alone."""
    _checks.choice("protocol", name, PROTOCOLS)
    return _paper(row.space.dim, supervised) if name == "paper" else _fast(row.model, supervised)


def _paper(dim: int, supervised: bool) -> Protocol:
    return Protocol(
        name="paper",
        steps=100_000 if supervised else 300_000,
        batch_size=6144,
        widths=MLP.paper_widths(dim),
        slope=0.01,
        initialisation="torch",
        whiten="no",
        optimizer="adam",
        learning_rate=1e-4,
        bias_learning_rate=1e-4,
        scale_start=1.0,
        scale_learning_rate=1e-4,
        logarithmic_scale=False,
        standardise=False,
        warmup=0,
        cosine=False,
        threads=0,
    )


def _fast(model: Model, supervised: bool) -> Protocol:
    start, rate = _fast_scale(model)
    return Protocol(
        name="fast",
        steps=1500 if supervised else 3000,
        batch_size=1024,
        widths=(128,) * 5,
        slope=0.2,
        initialisation="kaiming",
        whiten="uncentred",
        optimizer="muon",
        learning_rate=0.02,
        bias_learning_rate=1e-3,
        scale_start=1.0 if supervised else start,
        scale_learning_rate=rate,
        logarithmic_scale=True,
        standardise=not supervised,
        warmup=100,
        cosine=True,
        threads=1,
    )


def _fast_scale(model: Model) -> tuple[float, float]:
    """First value and learning rate of the head's scale: small at first, or the loss saturates and learns nothing."""
    similarity = model.similarity
    if isinstance(similarity, PowerDistance):
        start, rate = (3.0, 5e-4) if similarity.alpha <= 2 else (1.5, 2e-4)
        # A uniform law of unit variance has width √12: this is the width of the box.
        return (start / math.sqrt(12) if model.space == "unbounded" else start), rate
    return 1.0, 1e-3
