"""Runs that take a second: few factors, a small network, few steps."""

from __future__ import annotations

from dataclasses import replace

from identica.experiments import Row, Run
from identica.laws import Laplace
from identica.models import Model
from identica.spaces import Box

ROW = Row("t2-01", Box(3), Laplace(0.1), Model("box", "laplace"), "mcc")


def small_run(seed: int = 0, *, steps: int = 20, supervised: bool = False, row: Row = ROW) -> Run:
    protocol = row.protocol("fast", supervised=supervised)
    return Run(row, seed, replace(protocol, steps=steps, batch_size=64, widths=(16, 16)), supervised)
