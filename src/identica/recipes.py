"""How a learner is trained, as data: the authors' settings, or a recipe that reaches their scores in minutes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

from identica import _checks
from identica.encoders import MLP, EncoderSettings
from identica.models import Model
from identica.objectives import InBatch
from identica.similarities import PowerDistance, Similarity
from identica.spaces import Box, Real, Space, Sphere

__all__ = [
    "DIRECTIONS",
    "PROTOCOLS",
    "ContrastiveSettings",
    "Direction",
    "Recipe",
    "TrainingSettings",
    "WideCodes",
    "contrastive_recipe",
    "exceeds_two",
    "image_recipe",
    "supervised_image_recipe",
    "supervised_recipe",
    "vae_recipe",
    "wide_codes",
]

PROTOCOLS = ("fast", "paper")
"""Names of the recipes."""

Direction = Literal["forwards", "backwards"]
"""The paper's question (which z~ belongs to this z?) or the fast protocol's (which z did this z~ come from?)."""

DIRECTIONS: tuple[Direction, ...] = ("forwards", "backwards")
"""The two questions."""

_FIRST_MEAN_DISTANCE = 12.0  # of δ between unrelated codes when `fast` starts
# Pairs of images in a batch, each of two images.
_IMAGE_PAIRS, _PAPER_IMAGE_PAIRS, _IMAGE_STEPS = 64, 32, 1500
# The anchor is no sample of the marginal. While strangers are hard to tell from partners it only holds codes together,
# and factors that tell little are never learnt. Once they are easy to tell, nothing else pulls partners together.
_IMAGE_ANCHOR_WEIGHTS = 0.01, 1.0
# First deviation of codes of images. After 1500 steps sprites are ahead by a quarter of a bit of held-out pairs.
_SLOW_START = 0.5
# Pixels a side that are channels of one pixel: a step takes a third of the time.
_FOLD = 2
# Pairs of wide codes, or partners for each; widths and steps of the network that makes the model's codes of them.
_WIDE_PAIRS, _WIDE_PARTNERS, _NARROWING_WIDTHS, _NARROWING_STEPS = 50_000, 12, (256, 256), 2000
# What learns from wide codes may end where a factor is missing, and then its codes tell less of their partners.
_WIDE_STARTS = 3
# Steps on wide codes that one step on observations stands for, where both are shortened.
_SHORT_STEPS = 10


@final
@dataclass(frozen=True)
class TrainingSettings:
    """How parameters are updated.

    Args:
        steps: Number of updates.
        batch_size: Pairs in a batch.
        optimizer: `adam` for all parameters, or `muon` for matrices and `adam` for the rest.
        learning_rate: Of the matrices.
        bias_learning_rate: Of biases and other vectors.
        scale_learning_rate: Of scales.
        schedule_scales: Whether the schedule changes that rate too.
        warmup: Steps of linear warm-up.
        cosine: Let the learning rate fall to zero along a cosine.
        threads: Threads of the process that trains; 0 for all cores.
        width_learning_rate: Of the widths of single codes.
    """

    steps: int
    batch_size: int
    optimizer: Literal["adam", "muon"]
    learning_rate: float
    bias_learning_rate: float
    scale_learning_rate: float
    schedule_scales: bool
    warmup: int
    cosine: bool
    threads: int
    width_learning_rate: float = 0.0


@final
@dataclass(frozen=True)
class ContrastiveSettings:
    """Which InfoNCE is minimised.

    Args:
        positive_in_denominator: As `InfoNCE` has it.
        anchor_weight: As `InfoNCE` has it.
        in_batch: Where negatives come from: the other anchors of the batch, the other positives, or both.
        backward: Swap the halves of each pair.
        quadratic_until: Part of the steps during which an exponent above 2 is lowered to 2.
        width_pull: Weight of the penalty that holds free widths near what the distances of partners say.
        easy_anchor_weight: The weight that the anchor comes to have in batches whose partners are easy to tell from
            strangers; `anchor_weight` in all of them if 0.
        neighbours: How many anchors of a batch are near to one another, by their latest codes; 0 to draw all by chance.
            The source must number its observations.
    """

    positive_in_denominator: bool
    anchor_weight: float
    in_batch: InBatch
    backward: bool
    quadratic_until: float
    width_pull: float = 0.0
    easy_anchor_weight: float = 0.0
    neighbours: int = 0


@final
@dataclass(frozen=True)
class Recipe:
    """All settings of one training that are not about what is assumed.

    Args:
        name: `fast` or `paper`, with the direction behind it if that was changed.
        training: How parameters are updated.
        encoder: What the encoder is made of.
        contrastive: Which InfoNCE is minimised, if one is.
        wide: More codes than there are factors, which all of the above then learns, and how the codes of the model are
            learnt from these; None to learn the codes of the model at once.
    """

    name: str
    training: TrainingSettings
    encoder: EncoderSettings
    contrastive: ContrastiveSettings | None = None
    wide: WideCodes | None = None

    @property
    def steps(self) -> int:
        """Number of updates in all, those that learn from wide codes included."""
        return self.training.steps + (0 if self.wide is None else self.wide.starts * self.wide.recipe.steps)

    def with_steps(self, steps: int | None) -> Recipe:
        """The same recipe, shortened or lengthened; as it is if no number is given.

        What learns from wide codes takes no more of its own short steps than fits the number that is given.
        """
        if steps is None:
            return self
        training = replace(self.training, steps=_checks.at_least_one("steps", steps))
        wide = None if self.wide is None else self.wide.with_at_most(_SHORT_STEPS * steps)
        return replace(self, training=training, wide=wide)

    def of_wide_codes(self) -> Recipe:
        """How the wide codes are learnt: they have no bounds, and what scales them are the weights of the network."""
        encoder = replace(self.encoder, scale_start=1.0, normalise_codes=False, free_widths=False)
        return replace(self, encoder=encoder, wide=None)

    def in_bfloat16(self) -> Recipe:
        """The same recipe, whose network computes with 16 bits in training."""
        return replace(self, encoder=replace(self.encoder, bfloat16=True))

    def with_plain_encoder(self) -> Recipe:
        """The same with the paper's plain heads and no whitening: the loss alone keeps codes from one point."""
        plain = replace(self.encoder, whiten="no", normalise_codes=False, scale_start=1.0, free_widths=False)
        return replace(self, encoder=plain)

    def in_direction(self, direction: Direction) -> Recipe:
        """The same recipe, asking `forwards` which z~ belongs to a z, or `backwards` which z a z~ came from."""
        backward = _checks.choice("direction", direction, DIRECTIONS) == "backwards"
        assert self.contrastive is not None
        turned = replace(self.contrastive, backward=backward, in_batch="positives" if backward else "anchors")
        return replace(self, name=f"{self.name}-{direction}", contrastive=turned)


@final
@dataclass(frozen=True)
class WideCodes:
    """Codes without bounds, more than there are factors, that are learnt first; the model's are then learnt from them.

    Of some factors, such as a rotation, a few numbers are simple to see, and once these are codes no simple one
    completes them: training stays there. More codes than factors have room for all of it. They are still few, and a
    small network finds the factors among them, in steps that cost next to nothing.

    Args:
        count: How many.
        pairs: Pairs of wide codes that the model's are learnt from; a source that numbers its anchors has one for each.
        partners: So many for each anchor instead, if partners are anchors too, so that no code is computed twice. With
            one, pairs are soon learnt by heart.
        recipe: How the model's codes are learnt.
        starts: How often that is begun anew; kept are the codes that tell most of their partners on held-out pairs.
    """

    count: int
    pairs: int
    partners: int
    recipe: Recipe
    starts: int = 1

    def __post_init__(self) -> None:
        _checks.at_least_one("starts", self.starts)

    def with_at_most(self, steps: int) -> WideCodes:
        """The same, in no more steps."""
        return replace(self, recipe=self.recipe.with_steps(min(steps, self.recipe.training.steps)))


def wide_codes(count: int, model: Model) -> WideCodes:
    """So many wide codes of images, from which the model's are learnt in the steps of vectors, by the loss of images.

    Its heads have a bound for each code: of some factors an image tells less than of others, and at one size for all
    such a factor is given up for another half of one that is easy to see.
    """
    vectors, images = contrastive_recipe("fast", model), image_recipe("fast", model)
    assert images.contrastive is not None
    training = replace(
        vectors.training, steps=_NARROWING_STEPS, scale_learning_rate=images.training.scale_learning_rate
    )
    encoder = replace(images.encoder, widths=_NARROWING_WIDTHS, fold=1, slow_start=0.0)
    loss = replace(images.contrastive, in_batch="both")
    return WideCodes(count, _WIDE_PAIRS, _WIDE_PARTNERS, Recipe("fast", training, encoder, loss), _WIDE_STARTS)


def contrastive_recipe(protocol: str, model: Model) -> Recipe:
    """The recipe of that name for pairs."""
    if _checks.choice("protocol", protocol, PROTOCOLS) == "paper":
        released_loss = ContrastiveSettings(
            positive_in_denominator=True, anchor_weight=1.0, in_batch="anchors", backward=False, quadratic_until=0.0
        )
        return Recipe("paper", _paper_training(300_000), _paper_encoder(model.space.dim), released_loss)
    # On a sphere pairs may be so far apart that each tells little: it takes many of them.
    # Codes in an unbounded space must be turned to the axes by the pairs, and a wide kernel of a power above 2 would
    # turn them whatever the pairs say: such kernels come in when the scale has settled.
    above_two = exceeds_two(model.similarity)
    steps = 8000 if isinstance(model.space, Sphere) else 6000 if above_two else 3000
    loss = ContrastiveSettings(
        positive_in_denominator=False,
        anchor_weight=0.001,
        in_batch="positives",
        backward=True,
        quadratic_until=0.1 if above_two else 0.0,
    )
    training = _fast_training(steps, model.space, scale_learning_rate=2e-3 if above_two else None)
    if model.has_free_widths:
        training = replace(training, width_learning_rate=1e-2)
        # The scale of a box grows slowly, so that shrinking one code to lengthen the others pays: hold widths firmly.
        loss = replace(loss, width_pull=0.1 if isinstance(model.space, Box) else 0.005)
    start = _first_scale(model.similarity, model.space.dim)
    encoder = _fast_encoder(model.space.dim, start, normalise_codes=True)
    return Recipe("fast", training, replace(encoder, free_widths=model.has_free_widths), loss)


def image_recipe(protocol: str, model: Model) -> Recipe:
    """The recipe of that name for pairs of images: the paper's heads and nearly its loss, in few steps, ever shorter.

    Images show more than a few factors, and codes may be more than these. Were all of them held at one size, those that
    are spare would take a share of a factor; so their sizes are left to the network, or to bounds of their own, and the
    positive in the denominator keeps them from growing without end. The anchor is there, too, with little weight.
    """
    recipe = contrastive_recipe("paper", model)
    if _checks.choice("protocol", protocol, PROTOCOLS) == "paper":
        return replace(recipe, training=replace(recipe.training, batch_size=_PAPER_IMAGE_PAIRS))
    fast = contrastive_recipe("fast", model)
    on_sphere = isinstance(model.space, Sphere)
    encoder = replace(
        fast.encoder,
        normalise_codes=False,
        scale_start=1.0 if isinstance(model.space, Real) else fast.encoder.scale_start,
        free_widths=fast.encoder.free_widths and on_sphere,
        fold=_FOLD,
        slow_start=_SLOW_START,
    )
    assert recipe.contrastive is not None
    least, most = _IMAGE_ANCHOR_WEIGHTS
    loss = replace(recipe.contrastive, anchor_weight=least, easy_anchor_weight=most)
    return Recipe("fast", _image_training(fast.training), encoder, loss)


def supervised_image_recipe(protocol: str, space: Space) -> Recipe:
    """The recipe of that name for images with labels."""
    recipe = supervised_recipe(protocol, space)
    if protocol == "paper":
        return replace(recipe, training=replace(recipe.training, batch_size=2 * _PAPER_IMAGE_PAIRS))
    training = _image_training(recipe.training)
    training = replace(training, batch_size=2 * training.batch_size)
    return replace(recipe, training=training, encoder=replace(recipe.encoder, fold=_FOLD))


def supervised_recipe(protocol: str, space: Space) -> Recipe:
    """The recipe of that name for labels."""
    if _checks.choice("protocol", protocol, PROTOCOLS) == "paper":
        return Recipe("paper", _paper_training(100_000), _paper_encoder(space.dim))
    return Recipe("fast", _fast_training(3000, space), _fast_encoder(space.dim, 1.0, normalise_codes=False))


def vae_recipe(protocol: str) -> Recipe:
    """The recipe of that name for a variational autoencoder of images: Adam, and pixels as they are."""
    training = replace(_paper_training(300_000), batch_size=_PAPER_IMAGE_PAIRS)
    encoder = replace(_paper_encoder(1), widths=(), slope=0.0, initialisation="kaiming", network="conv")
    if _checks.choice("protocol", protocol, PROTOCOLS) == "fast":
        training = replace(training, steps=2000, warmup=100, cosine=True)
        training = replace(training, learning_rate=1e-3, bias_learning_rate=1e-3, scale_learning_rate=1e-3)
        encoder = replace(encoder, fold=_FOLD)
    return Recipe(protocol, training, encoder)


def exceeds_two(similarity: Similarity) -> bool:
    """Whether this is a distance to a power above 2."""
    return isinstance(similarity, PowerDistance) and similarity.alpha > 2


def _paper_training(steps: int) -> TrainingSettings:
    return TrainingSettings(
        steps=steps,
        batch_size=6144,
        optimizer="adam",
        learning_rate=1e-4,
        bias_learning_rate=1e-4,
        scale_learning_rate=1e-4,
        schedule_scales=True,
        warmup=0,
        cosine=False,
        threads=0,
    )


def _paper_encoder(dim: int) -> EncoderSettings:
    return EncoderSettings(
        widths=MLP.paper_widths(dim),
        slope=0.01,
        initialisation="torch",
        whiten="no",
        scale_start=1.0,
        logarithmic_scale=False,
        normalise_codes=False,
    )


def _fast_training(steps: int, space: Space, scale_learning_rate: float | None = None) -> TrainingSettings:
    # A box must press on its codes or nothing holds them to its axes: its scale grows slowly.
    by_space = 3e-4 if isinstance(space, Box) else 1e-3
    return TrainingSettings(
        steps=steps * max(space.dim, 10) // 10,
        batch_size=1024,
        optimizer="muon",
        learning_rate=0.04 if isinstance(space, Sphere) else 0.02,
        bias_learning_rate=1e-3,
        scale_learning_rate=by_space if scale_learning_rate is None else scale_learning_rate,
        schedule_scales=False,
        warmup=100,
        cosine=True,
        threads=1,
    )


def _image_training(training: TrainingSettings) -> TrainingSettings:
    """Adam, which is as good for convolutions as Muon and cheaper, in steps of fewer images, on all cores."""
    return replace(
        training,
        steps=_IMAGE_STEPS,
        batch_size=_IMAGE_PAIRS,
        optimizer="adam",
        learning_rate=2e-3,
        bias_learning_rate=2e-3,
        scale_learning_rate=1e-3,
        threads=0,
    )


def _fast_encoder(dim: int, scale_start: float, *, normalise_codes: bool) -> EncoderSettings:
    return EncoderSettings(
        widths=(max(64, 6 * dim),) * 2,
        slope=0.2,
        initialisation="kaiming",
        whiten="uncentred",
        scale_start=scale_start,
        logarithmic_scale=True,
        normalise_codes=normalise_codes,
    )


def _first_scale(similarity: Similarity, dim: int) -> float:
    """First width of the codes or radius of their sphere: a larger one saturates the loss."""
    if not isinstance(similarity, PowerDistance):
        return 1.0
    alpha = min(similarity.alpha, 2.0)
    # Two independent points that are uniform on [0, 1] differ by E|t|^α = 2 / ((α + 1)(α + 2)).
    return float((_FIRST_MEAN_DISTANCE / dim * (alpha + 1) * (alpha + 2) / 2) ** (1 / alpha))
