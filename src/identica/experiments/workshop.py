"""Tables 2 to 4 of the 2020 workshop paper, as data: sprites, contrastive learners and variational autoencoders."""

from __future__ import annotations

from collections.abc import Sequence

from identica.experiments.definition import Changes, Published, Reference, Row
from identica.learners import AdaGVAE, AlignUniform, BetaVAE, Contrastive, LearnerSettings, SlowVAE
from identica.models import Model
from identica.sources import DSprites, NaturalSprites, SourceSettings
from identica.spaces import Box, Real

__all__ = ["WORKSHOP_TABLE_2", "WORKSHOP_TABLE_2_INFONCE", "WORKSHOP_TABLE_3", "WORKSHOP_TABLE_4"]

_DISENTANGLEMENT = ("beta_vae", "factor_vae", "mig", "dci", "modularity", "sap")
_UNI, _LAP = DSprites("UNI"), DSprites("LAP")
_DISCRETE, _CONTINUOUS = NaturalSprites("discrete"), NaturalSprites("continuous")
# Shape and orientation of dSprites come late, after step 2000 or so. Natural Sprites never change theirs, and bits of
# their pairs after 3000 steps are those after 6000 to about one in a hundred.
_FAST, _FAST_NATURAL = Changes(steps=6000), Changes(steps=3000)

Score = tuple[float, float | None]


def _row(
    name: str, source: SourceSettings, learner: LearnerSettings, scores: Sequence[str], published: Sequence[Score]
) -> Row:
    """A row with a published score of each kind, or none if it is our own; MCC is shown beside them in any case."""
    references = [
        Published(score, "unsupervised", Reference(*value))
        for score, value in zip(scores, published, strict=bool(published))
    ]
    shown = tuple(dict.fromkeys((*scores, "mcc_spearman")))
    fast = _FAST_NATURAL if isinstance(source, NaturalSprites) else _FAST
    return Row(name, source, learner, shown, tuple(references), fast=fast)


def _sprites(name: str, source: DSprites, learner: LearnerSettings, *published: Score) -> Row:
    """Published are medians, with absolute deviations."""
    return _row(name, source, learner, _DISENTANGLEMENT, published)


def _natural(name: str, learner: LearnerSettings, *published: Score) -> Row:
    return _row(name, _DISCRETE, learner, (*_DISENTANGLEMENT, "mcc_spearman"), published)


def _smooth(name: str, learner: LearnerSettings, published: Score) -> Row:
    return _row(name, _CONTINUOUS, learner, ("mcc_spearman",), (published,))


WORKSHOP_TABLE_2 = (
    _sprites(
        "w2-01", _UNI, AdaGVAE(), (92.3, None), (84.7, None), (26.6, None), (47.9, None), (91.3, None), (7.4, None)
    ),
    _sprites("w2-02", _UNI, SlowVAE(), (90.4, 3.3), (81.35, 7.6), (35.7, 8.3), (52.1, 6.5), (87.6, 2.0), (5.1, 1.4)),
    _sprites(
        "w2-03",
        _UNI,
        AlignUniform(0.9999, 1),
        (82.5, 3.4),
        (62.9, 3.8),
        (7.8, 1.9),
        (22.2, 2.9),
        (98.8, 0.7),
        (4.9, 1.5),
    ),
    _sprites(
        "w2-04",
        _UNI,
        AlignUniform(0.9, 1),
        (80.2, 0.5),
        (61.0, 0.3),
        (20.5, 0.2),
        (42.4, 0.4),
        (100.0, 0.0),
        (7.6, 0.1),
    ),
    _sprites("w2-05", _LAP, SlowVAE(), (100.0, 0.0), (98.32, 2.5), (27.8, 7.9), (65.3, 3.1), (97.0, 1.5), (6.1, 2.6)),
    _sprites(
        "w2-06",
        _LAP,
        AlignUniform(0.999, 1),
        (100.0, 0.0),
        (96.0, 3.6),
        (24.9, 2.5),
        (45.6, 0.8),
        (92.9, 0.1),
        (9.6, 2.5),
    ),
    _sprites(
        "w2-07",
        _LAP,
        AlignUniform(0.99, 1),
        (100.0, 0.0),
        (94.5, 3.3),
        (17.4, 3.7),
        (54.0, 1.8),
        (94.7, 1.4),
        (7.0, 0.6),
    ),
    _sprites(
        "w2-08",
        _LAP,
        AlignUniform(0.9, 1),
        (100.0, 0.0),
        (89.5, 1.7),
        (18.1, 4.6),
        (54.4, 0.5),
        (90.5, 0.6),
        (6.7, 0.7),
    ),
)
"""Rows on dSprites."""

WORKSHOP_TABLE_2_INFONCE = (
    _row("w2-n1", _LAP, Contrastive(Model(Real(10), "laplace")), _DISENTANGLEMENT, ()),
    _row("w2-n2", _LAP, Contrastive(Model(Box(10), "laplace")), _DISENTANGLEMENT, ()),
)
"""Our own: InfoNCE with the Laplace model on the pairs of the last rows, with codes unbounded and in a box."""

WORKSHOP_TABLE_3 = (
    _natural(
        "w3-01", BetaVAE(), (78.1, 3.0), (60.6, 6.0), (4.6, 1.9), (10.3, 1.8), (87.8, 2.3), (2.1, 1.0), (41.7, 3.4)
    ),
    _natural(
        "w3-02", SlowVAE(), (82.6, 2.2), (76.2, 4.8), (11.7, 5.0), (18.9, 5.5), (88.1, 3.6), (4.4, 2.3), (52.6, 4.1)
    ),
    _natural(
        "w3-03",
        AlignUniform(0.5, 1),
        (72.2, 6.3),
        (62.1, 4.8),
        (9.4, 2.2),
        (18.1, 2.5),
        (96.5, 0.6),
        (5.1, 0.5),
        (33.4, 5.1),
    ),
    _natural(
        "w3-04",
        AlignUniform(0.5, 2),
        (55.7, 5.1),
        (44.1, 4.3),
        (1.7, 1.0),
        (3.2, 0.5),
        (91.2, 3.0),
        (0.7, 0.4),
        (22.4, 4.1),
    ),
)
"""Rows on Natural Sprites in bins."""

WORKSHOP_TABLE_4 = (
    _smooth("w4-01", BetaVAE(), (42.6, 4.7)),
    _smooth("w4-02", SlowVAE(), (49.1, 4.0)),
    _smooth("w4-03", AlignUniform(0.5, 1), (41.7, 5.3)),
    _smooth("w4-04", AlignUniform(0.5, 2), (25.8, 4.6)),
)
"""Rows on Natural Sprites as they were measured."""
