"""Figure 2: from a uniform marginal to a point, past the concentration of the conditional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from identica import _checks
from identica._checks import InputError
from identica.experiments.definition import Row
from identica.experiments.runner import Run
from identica.laws import Law, Normal, VonMisesFisher
from identica.learners import Contrastive
from identica.models import Model
from identica.recipes import Direction
from identica.sources import Synthetic
from identica.spaces import Box, Real, Space, Sphere

__all__ = ["PANELS", "Panel", "Point", "plan_figure2"]


@final
@dataclass(frozen=True)
class Panel:
    """One half of the figure.

    Args:
        name: `sphere` or `box`.
        space: Of the latents.
        conditional: p(z~ | z).
        model: What the encoder assumes.
        concentration: That of the conditional: the dashed line.
        symbol: What the concentration is called.
        octaves: Where concentrations of the marginal begin and end, from that of the conditional. On the left they
            begin with the paper's, near 2^-6; on the right they go farther.
    """

    name: str
    space: Space
    conditional: Law
    model: Model
    concentration: float
    symbol: str
    octaves: tuple[float, float]

    def marginal(self, concentration: float) -> Law:
        """A law around the pole of the sphere or the middle of the box."""
        on_sphere = isinstance(self.space, Sphere)
        return VonMisesFisher(concentration) if on_sphere else Normal(1 / math.sqrt(concentration))

    def grid(self, points: int) -> list[float]:
        """Concentrations at equal ratios around that of the conditional."""
        return [float(self.concentration * 2**octave) for octave in np.linspace(*self.octaves, points)]

    def row(self, concentration: float) -> Row:
        """The experiment with a marginal of that concentration."""
        source = Synthetic(self.space, self.conditional, self.marginal(concentration))
        return Row(f"f2-{self.name}-{concentration:.3g}", source, Contrastive(self.model))


PANELS: tuple[Panel, ...] = (
    Panel("sphere", Sphere(10), VonMisesFisher(10), Model(Sphere(10), "vmf"), 10.0, "κ", (-10, 6)),
    Panel("box", Box(10), Normal(0.05), Model(Real(10), "normal"), 400.0, "1/σ²", (-15, 9)),
)
"""The two halves of the figure, with the processes of rows t1-02 and t1-05 of Table 1."""


@final
@dataclass(frozen=True)
class Point:
    """One run of the figure, and where its score goes."""

    panel: Panel
    concentration: float
    direction: Direction
    run: Run


def plan_figure2(
    points: int,
    seeds: Sequence[int],
    *,
    protocol: str = "fast",
    steps: int | None = None,
    directions: Sequence[Direction] = ("forwards",),
) -> list[Point]:
    """All runs of the figure; of the directions of a panel, nothing differs but the question.

    Args:
        points: Concentrations in each panel.
        seeds: Of the mixings, weights and pairs.
        protocol: `fast` or `paper`.
        steps: Number of updates instead of the protocol's.
        directions: Which question to train with.
    """
    if _checks.at_least_one("points", points) < 2:
        raise InputError(f"points must be at least 2, got {points}")
    for name, values in (("seeds", seeds), ("directions", directions)):
        if not values:
            raise InputError(f"{name} must hold at least one, got none")
    plan = []
    for direction in directions:
        for panel in PANELS:
            for concentration in panel.grid(points):
                row = panel.row(concentration)
                recipe = row.learner.recipe(protocol).with_plain_encoder().in_direction(direction).with_steps(steps)
                for seed in seeds:
                    run = Run(row.source, row.learner, recipe, seed, row.id, row.scores)
                    plan.append(Point(panel, concentration, direction, run))
    return plan
