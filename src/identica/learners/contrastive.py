"""InfoNCE on positive pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, final, get_args

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica._random import random_stream
from identica._ranks import mean_over_ranks
from identica._words import with_article
from identica.axes import second_order_axes
from identica.encoders import Encoder, Stretch, Turn, Units, encode, make_encoder, rows_at_once, unit_variance
from identica.information import match_scales
from identica.laws import Law, rounded
from identica.learners._neighbours import Neighbourhoods
from identica.learners.base import Learner, LearnerSettings
from identica.models import Ambiguity, Model
from identica.objectives import InfoNCE
from identica.recipes import ContrastiveSettings, Recipe, WideCodes, contrastive_recipe, exceeds_two, image_recipe
from identica.redundancy import informative_codes
from identica.similarities import PowerDistance
from identica.sources import ArrayPairs, NumberedSource, Source
from identica.spaces import Real, Space, Sphere

__all__ = ["Axes", "Contrastive", "ContrastiveLearner", "fitted_law"]

Axes = Literal["learnt", "second-order"]
"""Where the axes of the codes come from."""

_CALIBRATION_SAMPLES, _CALIBRATION_PAIRS = 16_384, 4096


@final
@dataclass(frozen=True)
class Contrastive(LearnerSettings):
    """An encoder that tells partners from strangers, by the similarity that fits the model.

    Args:
        model: What is assumed.
        axes: `learnt`, or `second-order` to turn the codes, after training, to the one basis in which both their
            covariance and that of partner differences are diagonal. For normal noise without bounds, which leaves a
            rotation, and for normal noise of free widths on a sphere, where widths that are nearly equal leave almost
            one; justified if all factors have different widths.
    """

    model: Model
    axes: Axes = "learnt"

    def __post_init__(self) -> None:
        _checks.choice("axes", self.axes, get_args(Axes))
        if self.axes == "second-order" and not self._may_turn:
            raise InputError(
                "axes='second-order' is for a model that leaves an affine map open (unbounded, normal) or one with "
                f"normal noise of free widths on a sphere, got {self.model}, which leaves "
                f"{with_article(self.model.ambiguity)}"
            )

    def __str__(self) -> str:
        return str(self.model) if self.axes == "learnt" else f"{self.model}, {self.axes} axes"

    @property
    def _may_turn(self) -> bool:
        """Whether turned codes are as good to the loss, or nearly so."""
        on_sphere = isinstance(self.model.space, Sphere) and self.model.has_free_widths
        normal = self.model.similarity == PowerDistance(2.0)
        return normal and (on_sphere or self.model.ambiguity == "affine map")

    @property
    def ambiguity(self) -> Ambiguity:
        return self.model.ambiguity if self.axes == "learnt" else "permutation"

    @property
    def code_space(self) -> Space:
        return self.model.space

    def recipe(self, protocol: str) -> Recipe:
        return contrastive_recipe(protocol, self.model)

    def image_recipe(self, protocol: str) -> Recipe:
        return image_recipe(protocol, self.model)

    def build(
        self, recipe: Recipe, sample: Tensor, generator: Generator, network: nn.Module | None = None
    ) -> ContrastiveLearner:
        """The learner before training; `network` is one of the caller's own in the place of the recipe's."""
        assert recipe.contrastive is not None
        if recipe.wide is not None:
            before = self.of_wide_codes(recipe.wide).build(recipe.of_wide_codes(), sample, generator, network)
            codes = torch.randn(2 * recipe.wide.count, recipe.wide.count, generator=generator)
            return self.build(recipe.wide.recipe, codes, generator).behind(before)
        encoder = make_encoder(recipe.encoder, self.model.space, sample, generator, network)
        return ContrastiveLearner(encoder, self.model, recipe.contrastive, self.axes)

    def of_wide_codes(self, wide: WideCodes) -> Contrastive:
        """What learns the wide codes: no bounds, and differences whose squares count."""
        return Contrastive(Model(Real(wide.count), "normal"))

    def describe(self) -> str:
        return f"The encoder saw pairs of observations alone, and assumed: {self}."


@final
class ContrastiveLearner(Learner):
    """InfoNCE on positive pairs; both halves of a pair go through the encoder in one pass.

    With the halves swapped (`backward`) it tells from z~ which z it came from. With other z as negatives the log ratio
    p(z | z~) / p(z) is log p(z~ | z) up to a function of z~, whatever the marginal; forwards, that holds for a uniform
    one alone.

    Args:
        encoder: From observations to codes.
        model: What is assumed.
        settings: Which InfoNCE is minimised.
        axes: Whether `calibrate` turns the codes.
    """

    scales: Tensor
    used: Tensor

    def __init__(self, encoder: Encoder, model: Model, settings: ContrastiveSettings, axes: Axes = "learnt") -> None:
        super().__init__()
        self.encoder, self.model, self.settings, self.axes = encoder, model, settings, axes
        self.objective = InfoNCE(
            model.similarity,
            positive_in_denominator=settings.positive_in_denominator,
            anchor_weight=settings.anchor_weight,
            in_batch=settings.in_batch,
        )
        self._front_is_done = False
        self.neighbourhoods: Neighbourhoods | None = None
        lowered = exceeds_two(model.similarity) and settings.quadratic_until > 0
        dim = model.space.dim
        self.turn = nn.Identity() if axes == "learnt" else Turn(torch.eye(dim))
        self.units = Units(torch.zeros(dim), torch.ones(dim))
        self.register_buffer("scales", torch.ones(dim))
        self.register_buffer("used", torch.ones(dim, dtype=torch.bool))
        self.first_objective = replace(self.objective, similarity=PowerDistance(2.0)) if lowered else self.objective

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        if self.neighbourhoods is None:
            return source.pairs(count, generator)
        assert isinstance(source, NumberedSource)
        rows = self.neighbourhoods.draw(count, generator)
        return *source.pairs_of(rows, generator), rows

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        observed = torch.cat(batch[:2])
        codes = self.encoder.behind_front(observed if self._front_is_done else self.encoder.front(observed))
        if self.neighbourhoods is not None:
            self.neighbourhoods.remember(batch[2], codes.chunk(2)[0])
        penalty = self._pull(codes.detach())
        first, second = self.encoder.stretch(codes).chunk(2)
        return self.infonce(first, second, progress) + penalty

    @contextmanager
    def reading(self, source: Source) -> Iterator[Source]:
        """Vectors in an array are scaled and whitened once, not in every batch; codes of neighbours are remembered."""
        with self._front_done(source) as read:
            if self.settings.neighbours > 0:
                self.neighbourhoods = self._neighbourhoods(read)
            try:
                yield read
            finally:
                self.neighbourhoods = None

    def _neighbourhoods(self, source: Source) -> Neighbourhoods:
        if not isinstance(source, NumberedSource):
            raise InputError(
                f"neighbours must be 0 unless the source numbers its observations, got {self.settings.neighbours} "
                f"with {type(source).__name__}"
            )
        found = Neighbourhoods(len(source), self.model.space.dim, self.settings.neighbours)
        return found.to(self.units.shift.device)

    @contextmanager
    def _front_done(self, source: Source) -> Iterator[Source]:
        if not isinstance(source, ArrayPairs) or source.observations.ndim != 2:
            yield source
            return
        device, home = self.units.shift.device, source.observations.device
        with torch.no_grad():
            pieces = torch.split(source.observations, rows_at_once(source.observations))
            values = torch.cat([self.encoder.front(piece.to(device)).to(home) for piece in pieces])
        self._front_is_done = True
        try:
            yield ArrayPairs(values, source.indices.cpu().numpy())
        finally:
            self._front_is_done = False

    def infonce(self, first: Tensor, second: Tensor, progress: float = 1.0) -> Tensor:
        """The loss of pairs of codes."""
        anchors, positives = (second, first) if self.settings.backward else (first, second)
        early = progress < self.settings.quadratic_until
        objective = self.first_objective if early else self.objective
        if self.settings.easy_anchor_weight > 0:
            objective = replace(objective, anchor_weight=self._anchor_weight(objective, anchors, positives))
        return objective(anchors, positives)

    def _anchor_weight(self, objective: InfoNCE, anchors: Tensor, positives: Tensor) -> float:
        """Of the anchor in this batch: the more, the surer partners are told from strangers without it.

        At a loss of log 2 a partner has half of the weight of all candidates; from there the weight grows as it falls.
        """
        with torch.no_grad():
            loss = replace(objective, anchor_weight=0.0)(anchors, positives)
        ease = max(0.0, 1 - float(mean_over_ranks(loss)) / math.log(2))
        least, most = self.settings.anchor_weight, self.settings.easy_anchor_weight
        return least + ease * (most - least)

    def _pull(self, codes: Tensor) -> Tensor | float:
        """The penalty on free widths, of codes that are not stretched yet."""
        stretch, similarity = self.encoder.stretch, self.model.similarity
        if not isinstance(stretch, Stretch) or not isinstance(similarity, PowerDistance):
            return 0.0
        first, second = codes.chunk(2)
        return self.settings.width_pull * stretch.pull(first, second, similarity.alpha)

    def behind(self, before: ContrastiveLearner) -> ContrastiveLearner:
        """This learner, of codes of another one, as a learner of what that one observes."""
        self.encoder.wide = before.encoder
        return self

    @contextmanager
    def placed_behind(self, before: ContrastiveLearner) -> Iterator[None]:
        """For a while it observes what the other learner does."""
        self.behind(before)
        try:
            yield
        finally:
            self.encoder.wide = None

    def codes(self, observations: Tensor) -> Tensor:
        codes: Tensor = self.turn(self.encoder(observations))
        return codes

    @property
    def reader(self) -> nn.Sequential:
        """From observations to codes in the units that users read."""
        return nn.Sequential(self.encoder, self.turn, self.units)

    def calibrate(self, source: Source, seed: int) -> dict[str, Any]:
        """Fix the units of the codes, and match the width of the conditional to pairs in these units."""
        return self._match(source, self.fix_units(source, seed))

    def fix_units(self, source: Source, seed: int) -> Generator:
        """Fix axes and units of the codes; the generator that chose the sample is given back."""
        generator = random_stream(seed, "calibration", str(self.units.shift.device))
        if isinstance(self.turn, Turn):
            self.turn.matrix.copy_(self._axes(*source.distinct_pairs(_CALIBRATION_SAMPLES, generator)))
        codes = encode(self.encoder, source.bounded_sample(_CALIBRATION_SAMPLES, generator))
        self.units.load_state_dict(self._measured_units(codes.float()).state_dict())
        return generator

    def match(self, source: Source, seed: int) -> dict[str, Any]:
        """Match the width of the conditional to these pairs, in the units that are fixed."""
        return self._match(source, random_stream(seed, "calibration", str(self.units.shift.device)))

    def _match(self, source: Source, generator: Generator) -> dict[str, Any]:
        similarity = self.model.similarity
        first, second = (encode(self.reader, half) for half in source.distinct_pairs(_CALIBRATION_PAIRS, generator))
        start = 1 / self.units.factor.double().cpu()  # codes as the loss saw them
        free = self.model.has_free_widths
        scales = match_scales(similarity, first, second, start, free=free)
        used = informative_codes(similarity, first, second, scales) if free else torch.ones(len(scales)) > 0
        if not used.all():  # what spare codes carried falls to the others
            ours, theirs = first[:, used], second[:, used]
            scales = torch.zeros_like(start).masked_scatter(
                used, match_scales(similarity, ours, theirs, start[used], free=True).double()
            )
        self.scales.copy_(scales)
        self.used.copy_(used)
        return {"conditional": str(rounded(self.law, 4)), "components_used": used.nonzero().flatten().tolist()}

    def _axes(self, *halves: Tensor) -> Tensor:
        """The second-order axes of the codes of these pairs; on a sphere, of the codes before their stretch."""
        first, second = (encode(self.encoder, half).double() for half in halves)
        if not isinstance(self.model.space, Sphere):
            return second_order_axes(first, second)
        assert isinstance(self.encoder.stretch, Stretch)
        factors = self.encoder.stretch.factors().detach().double().cpu()
        return second_order_axes(first / factors, second / factors, rotation=True) / factors[:, None]

    def _measured_units(self, codes: Tensor) -> Units:
        """The units that users read, from codes of the encoder."""
        if self.axes == "learnt":
            return self.encoder.units(codes)
        turned = self.turn(codes)
        return self.encoder.head.units(turned) if isinstance(self.model.space, Sphere) else unit_variance(turned)

    @property
    def law(self) -> Law:
        """The conditional that was fitted by `calibrate`, in units of the codes."""
        return fitted_law(self.model, self.scales)


def fitted_law(model: Model, scales: Tensor) -> Law:
    """The conditional that these scales of the codes stand for: a width for each code that is used, or one for all."""
    values = tuple(scales[scales > 0].double().tolist())
    return model.similarity.law(values if model.has_free_widths else math.exp(sum(map(math.log, values)) / len(values)))
