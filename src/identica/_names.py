"""Names that users give, so that a misspelt one is refused before anything heavy is imported."""

from __future__ import annotations

import re

from identica import _checks
from identica._checks import InputError

__all__ = [
    "AXES",
    "CONDITIONALS",
    "ENCODERS",
    "ENGINES",
    "SCALINGS",
    "SPACES",
    "WIDTHS",
    "check_assumption",
    "check_engine",
]

SPACES = ("sphere", "box", "unbounded")
"""Spaces of the factors."""

CONDITIONALS = ("auto", "vmf", "laplace", "normal", "gennorm(beta=3)")
"""Families of conditionals; `gennorm` takes any exponent."""

ENCODERS = ("auto", "linear", "mlp", "conv", "light", "glimpse", "resnet", "deep mlp")
"""Networks."""

ENGINES = ("local", "ray")
"""Where work is done: this machine, or a Ray cluster."""

SCALINGS = ("auto", "none", "sqrt", "log1p", "robust")
"""What values pass first."""

WIDTHS = ("free", "equal")
"""Of conditionals."""

AXES = ("learnt", "second-order")
"""Where the axes of codes come from."""


def check_assumption(space: str, conditional: str) -> None:
    """Refuse a space or a conditional that has no such name, or two that do not fit."""
    _checks.choice("space", space, SPACES)
    if re.fullmatch(r"gennorm\(beta=[\d.]+\)", conditional.replace(" ", "")) is None:
        _checks.choice("conditional", conditional, CONDITIONALS)
    if conditional == "vmf" and space != "sphere":
        raise InputError(f"the vmf model needs the sphere as model space, got {space!r}")


def check_engine(name: str, address: str | None) -> None:
    """Refuse an engine that has no such name, or the address of one that has none."""
    _checks.choice("engine", name, ENGINES)
    if address is not None and name != "ray":
        raise InputError(f"--address is for --engine ray, got {address!r} with --engine {name}")
