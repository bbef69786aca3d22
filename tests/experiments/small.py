"""Runs that take a second: few factors, a small network, few steps."""

from __future__ import annotations

from dataclasses import replace

from identica.experiments import Row, Run
from identica.laws import Laplace
from identica.learners import Contrastive
from identica.models import Model
from identica.sources import Synthetic
from identica.spaces import Box

SOURCE = Synthetic(Box(3), Laplace(0.1))
ROW = Row("t2-01", SOURCE, Contrastive(Model(Box(3), "laplace")), ("mcc", "r2"))


def small_run(seed: int = 0, *, steps: int = 20, supervised: bool = False, row: Row = ROW) -> Run:
    run = row.baseline(seed) if supervised else row.run(seed)
    training = replace(run.recipe.training, steps=steps, batch_size=64)
    encoder = replace(run.recipe.encoder, widths=(16, 16))
    return replace(run, recipe=replace(run.recipe, training=training, encoder=encoder))
