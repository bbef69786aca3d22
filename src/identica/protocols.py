"""How a row is trained: the authors' settings, or a recipe that reaches their scores in minutes on a laptop."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Literal, final

from torch import Generator, Tensor, nn
from torch.optim import Adam, Optimizer

from identica import _checks
from identica.encoders import (
    MLP,
    Encoder,
    Initialisation,
    Scale,
    Standardisation,
    Whitening,
    make_backbone,
    make_head,
)
from identica.models import Model
from identica.objectives import InBatch, InfoNCE, PowerDistance, Similarity
from identica.optimizers import Muon
from identica.processes import Process
from identica.training import Contrastive, Schedule

__all__ = ["DIRECTIONS", "PROTOCOLS", "Direction", "Protocol", "make_protocol"]

PROTOCOLS = ("fast", "paper")
"""Names of the protocols."""

Direction = Literal["forwards", "backwards"]
"""The paper's question (which z~ belongs to this z?) or the fast protocol's (which z did this z~ come from?)."""

DIRECTIONS: tuple[Direction, ...] = ("forwards", "backwards")
"""The two questions."""

# More features than this are only standardised: their covariance would take longer than the training.
_MOST_WHITENED = 2048
# Root mean square of the whitened mean beyond which it is subtracted; factors on [0, 1] have 1.7.
_FARTHEST_MEAN = 3.0

# Mean of δ between unrelated codes when `fast` starts.
_FIRST_MEAN_DISTANCE = 12.0


@final
@dataclass(frozen=True)
class Protocol:
    """Settings of one training run.

    Args:
        name: `fast` or `paper`, with the direction behind it if that was changed.
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
        normalise_codes: Keep the scale of codes in the head, by their moments instead of by bounds.
        positive_in_denominator: As `InfoNCE` has it.
        anchor_weight: As `InfoNCE` has it.
        in_batch: Where negatives come from: the other anchors of the batch, or the other positives.
        backward: Swap the halves of each pair.
        quadratic_until: Part of the steps during which an exponent above 2 is lowered to 2.
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
    normalise_codes: bool
    positive_in_denominator: bool
    anchor_weight: float
    in_batch: InBatch
    backward: bool
    quadratic_until: float
    warmup: int
    cosine: bool
    threads: int

    def with_steps(self, steps: int | None) -> Protocol:
        """The same protocol, shortened or lengthened; as it is if no number is given."""
        return self if steps is None else replace(self, steps=_checks.at_least_one("steps", steps))

    def with_plain_encoder(self) -> Protocol:
        """The same protocol with the paper's encoder around the network: observations as they are, and plain heads.

        Nothing but the loss then keeps codes from shrinking to a point.
        """
        return replace(self, whiten="no", normalise_codes=False, scale_start=1.0)

    def asked(self, direction: Direction) -> Protocol:
        """The same protocol asking `forwards` for a z~ among anchors, or `backwards` for a z among its like."""
        backward = _checks.choice("direction", direction, DIRECTIONS) == "backwards"
        return replace(
            self,
            name=f"{self.name}-{direction}",
            backward=backward,
            in_batch="positives" if backward else "anchors",
        )

    @property
    def schedule(self) -> Schedule:
        """Number of steps and learning-rate factors."""
        return Schedule(self.steps, self.warmup, self.cosine)

    def task(self, model: Model, process: Process) -> Contrastive:
        """InfoNCE with the model's similarity, τ = 1 and negatives from the batch."""
        objective = InfoNCE(
            model.similarity,
            positive_in_denominator=self.positive_in_denominator,
            anchor_weight=self.anchor_weight,
            in_batch=self.in_batch,
        )
        quadratic = replace(objective, similarity=PowerDistance(2.0)) if _is_sharp(model.similarity) else None
        return Contrastive(process, objective, self.batch_size, quadratic, self.quadratic_until, self.backward)

    def encoder(
        self,
        model_space: str,
        dim: int,
        sample: Tensor,
        generator: Generator,
        backbone: str | nn.Module = "mlp",
        directions: int | None = None,
    ) -> Encoder:
        """An encoder from observations like `sample` to `dim` codes in the model's space.

        Args:
            model_space: `sphere`, `box` or `unbounded`.
            dim: Number of codes.
            sample: Observations to measure mean and covariance of.
            generator: Source of the initial weights.
            backbone: `linear`, `mlp`, `conv`, `resnet`, or a network of the caller's own, which is copied.
            directions: How many directions of vectors to keep, those of most variance; all of them if not given.
        """
        if isinstance(backbone, nn.Module):
            network = copy.deepcopy(backbone)
        else:
            network = make_backbone(
                backbone,
                sample.shape[1:],
                dim,
                widths=self.widths,
                slope=self.slope,
                initialisation=self.initialisation,
                generator=generator,
            )
        head = make_head(
            model_space,
            dim,
            self.scale_start,
            logarithmic=self.logarithmic_scale,
            normalised=self.normalise_codes,
        )
        return Encoder(network, head, self._front(sample, dim, directions))

    def _front(self, sample: Tensor, dim: int, directions: int | None) -> Whitening | Standardisation | None:
        if self.whiten == "no":
            return None
        few = sample.ndim == 2 and len(sample) > sample.shape[1] and sample.shape[1] <= _MOST_WHITENED
        if not few and directions is None:
            return Standardisation.fit(sample)
        whitening = Whitening.fit(sample, centre=self.whiten == "centred", dim=dim, keep=directions)
        # The mean may stay where it is near. Observations far from the origin would all look alike.
        offset = whitening(sample.mean(dim=0)).square().mean().sqrt()
        return whitening if offset <= _FARTHEST_MEAN else Whitening.fit(sample, dim=dim, keep=directions)

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


def make_protocol(name: str, model: Model, dim: int, *, supervised: bool = False) -> Protocol:
    """The protocol of that name for a model of `dim` factors."""
    _checks.choice("protocol", name, PROTOCOLS)
    return _paper(dim, supervised) if name == "paper" else _fast(model, dim, supervised)


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
        normalise_codes=False,
        positive_in_denominator=True,
        anchor_weight=0.0,
        in_batch="anchors",
        backward=False,
        quadratic_until=0.0,
        warmup=0,
        cosine=False,
        threads=0,
    )


def _fast(model: Model, dim: int, supervised: bool) -> Protocol:
    # On a sphere pairs may be so far apart that each tells little: it takes many of them.
    on_sphere = model.space == "sphere"
    # Codes in an unbounded space must be turned to the axes by the pairs, and a wide kernel of a power above 2 would
    # turn them whatever the pairs say: such kernels come in when the scale has settled.
    sharp = _is_sharp(model.similarity) and not supervised
    steps = 8000 if on_sphere and not supervised else 6000 if sharp else 3000
    return Protocol(
        name="fast",
        steps=steps * max(dim, 10) // 10,
        batch_size=1024,
        widths=(max(64, 6 * dim),) * 2,
        slope=0.2,
        initialisation="kaiming",
        whiten="uncentred",
        optimizer="muon",
        learning_rate=0.04 if on_sphere else 0.02,
        bias_learning_rate=1e-3,
        scale_start=1.0 if supervised else _fast_scale(model.similarity, dim),
        scale_learning_rate=_fast_scale_rate(model.space, sharp),
        logarithmic_scale=True,
        normalise_codes=not supervised,
        positive_in_denominator=False,
        anchor_weight=0.001,
        in_batch="positives",
        backward=True,
        quadratic_until=0.1 if sharp else 0.0,
        warmup=100,
        cosine=True,
        threads=1,
    )


def _is_sharp(similarity: Similarity) -> bool:
    return isinstance(similarity, PowerDistance) and similarity.alpha > 2


def _fast_scale(similarity: Similarity, dim: int) -> float:
    """First width of the codes or radius of their sphere: a larger one saturates the loss."""
    if not isinstance(similarity, PowerDistance):
        return 1.0
    alpha = min(similarity.alpha, 2.0)
    # Two independent points that are uniform on [0, 1] differ by E|t|^α = 2 / ((α + 1)(α + 2)).
    return float((_FIRST_MEAN_DISTANCE / dim * (alpha + 1) * (alpha + 2) / 2) ** (1 / alpha))


def _fast_scale_rate(space: str, sharp: bool) -> float:
    """A box must press on its codes or nothing holds them to its axes; a sharp kernel waits for the scale to settle."""
    return 2e-3 if sharp else 3e-4 if space == "box" else 1e-3
