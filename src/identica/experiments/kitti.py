"""Tables on KITTI Masks, as data: Table 3 of the ICML 2021 paper, Table 5 of the workshop's, and rows of our own."""

from __future__ import annotations

from dataclasses import replace

from identica.experiments.definition import Changes, Published, Reference, Row
from identica.learners import AlignUniform, BetaVAE, Contrastive, LearnerSettings, SlowVAE
from identica.models import Model
from identica.sources import KittiMasks
from identica.spaces import Box, Real, Space

__all__ = ["TABLE_3", "TABLE_3_WIDTHS", "WORKSHOP_TABLE_5"]

_ONE, _FIVE = KittiMasks(max_lag=1), KittiMasks(max_lag=5)
_BOX, _REAL = Box(10), Real(10)
_SCORES = ("mcc_spearman", "r2")
# Bits of people that are held out hardly rise after step 1000.
_FAST = Changes(steps=2000)


def _row(name: str, source: KittiMasks, learner: LearnerSettings, *published: float) -> Row:
    """A row with its published mean and deviation, or without any if it is our own."""
    references = [Published(_SCORES[0], "unsupervised", Reference(*published))] if published else []
    return Row(name, source, learner, _SCORES, tuple(references), fast=_FAST)


def _contrastive(space: Space, conditional: str) -> Contrastive:
    return Contrastive(Model(space, conditional))


def _free(name: str, source: KittiMasks, space: Space, conditional: str) -> Row:
    row = _row(name, source, Contrastive(Model(space, conditional, "free")))
    return replace(row, fast=replace(_FAST, one_size=True))


TABLE_3 = (
    _row("t3-01", _ONE, SlowVAE(), 66.1, 4.5),
    _row("t3-02", _ONE, _contrastive(_REAL, "laplace"), 77.1, 1.0),
    _row("t3-03", _ONE, _contrastive(_BOX, "laplace"), 74.1, 4.4),
    _row("t3-04", _ONE, _contrastive(_REAL, "normal"), 58.3, 5.4),
    _row("t3-05", _ONE, _contrastive(_BOX, "normal"), 59.9, 5.5),
    _row("t3-06", _FIVE, SlowVAE(), 79.6, 5.8),
    _row("t3-07", _FIVE, _contrastive(_REAL, "laplace"), 79.4, 1.9),
    _row("t3-08", _FIVE, _contrastive(_BOX, "laplace"), 80.9, 3.8),
    _row("t3-09", _FIVE, _contrastive(_REAL, "normal"), 60.2, 8.7),
    _row("t3-10", _FIVE, _contrastive(_BOX, "normal"), 68.4, 6.7),
)
"""Rows of Table 3: partners 1 frame apart, then up to 5."""

TABLE_3_WIDTHS = (
    _free("t3-w1", _ONE, _REAL, "laplace"),
    _free("t3-w2", _ONE, _BOX, "laplace"),
    _free("t3-w3", _ONE, _REAL, "normal"),
    _free("t3-w4", _ONE, _BOX, "normal"),
    _free("t3-w5", _FIVE, _REAL, "laplace"),
    _free("t3-w6", _FIVE, _BOX, "laplace"),
    _free("t3-w7", _FIVE, _REAL, "normal"),
    _free("t3-w8", _FIVE, _BOX, "normal"),
)
"""Our own: the contrastive rows of Table 3 with codes of one size, and a width for each in the similarity."""

WORKSHOP_TABLE_5 = (
    _row("w5-01", _ONE, BetaVAE(), 62.7, 7.1),
    _row("w5-02", _ONE, SlowVAE(), 66.1, 4.5),
    _row("w5-03", _ONE, AlignUniform(0.5, 1), 77.1, 1.7),
    _row("w5-04", _ONE, AlignUniform(0.5, 2), 64.8, 2.4),
    _row("w5-05", _FIVE, SlowVAE(), 79.6, 5.8),
    _row("w5-06", _FIVE, AlignUniform(0.5, 1), 79.6, 2.6),
    _row("w5-07", _FIVE, AlignUniform(0.5, 2), 68.3, 2.6),
)
"""Rows of the workshop's Table 5; the β-VAE sees images one by one."""
