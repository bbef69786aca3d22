"""What is assumed about the factors and their pairs: a space and a family of conditionals."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, final, get_args

from identica import _checks
from identica._checks import InputError
from identica.similarities import DotProduct, PowerDistance, Similarity
from identica.spaces import NAMED_SPACES, Space, Sphere, parse_space

__all__ = ["CONDITIONALS", "Ambiguity", "Model", "Widths"]

Ambiguity = Literal["rotation", "affine map", "permutation"]
"""The kind of map that the theory leaves open between factors and codes."""

Widths = Literal["free", "equal"]
"""Whether the conditional is as wide for one factor as for another."""

CONDITIONALS: dict[str, Similarity] = {
    "vmf": DotProduct(),
    "laplace": PowerDistance(1.0),
    "normal": PowerDistance(2.0),
}
"""Families of conditionals by name, each with the similarity that fits it; `gennorm(beta=…)` is any other exponent."""


@final
@dataclass(frozen=True)
class Model:
    """What the encoder assumes: the space of its codes and the family of q(z~ | z).

    Args:
        space: Of the codes.
        conditional: `vmf`, `laplace`, `normal` or `gennorm(beta=…)`; its scale is learnt, never given.
        widths: `equal` if one width fits all factors, as in the paper's tables, or `free` if each has its own.
    """

    space: Space
    conditional: str
    widths: Widths = "equal"

    def __post_init__(self) -> None:
        _checks.choice("widths", self.widths, get_args(Widths))
        if isinstance(self.similarity, DotProduct) and not isinstance(self.space, Sphere):
            raise InputError(f"the vmf model needs the sphere as model space, got {self.space.name!r}")

    @classmethod
    def named(cls, space: str, conditional: str, dim: int, widths: Widths = "free") -> Model:
        """The model of `dim` codes that a user names: `sphere`, `box` or `unbounded`, and a conditional.

        Factors of real data are not alike, so each has a width of its own unless `equal` is asked for. The conditional
        `auto` is `vmf` on the sphere and `laplace` elsewhere.
        """
        if not isinstance(conditional, str):
            raise InputError(f"conditional must be a name such as 'laplace', got {conditional!r}")
        if conditional == "auto":
            conditional = "vmf" if space == Sphere.name else "laplace"
        model = cls(parse_space(_checks.choice("model space", space, NAMED_SPACES), dim), conditional, widths)
        return model if model.has_free_widths else replace(model, widths="equal")

    @property
    def similarity(self) -> Similarity:
        """The similarity whose InfoNCE fits this model: a dot product, or a distance to the power α."""
        match = re.fullmatch(r"gennorm\(beta=([\d.]+)\)", self.conditional.replace(" ", ""))
        if match is not None:
            return PowerDistance(float(match[1]))
        return CONDITIONALS[_checks.choice("model conditional", self.conditional, [*CONDITIONALS, "gennorm(beta=3)"])]

    @property
    def has_free_widths(self) -> bool:
        """Whether a width is learnt for each code: a von Mises–Fisher law has one concentration only."""
        return self.widths == "free" and isinstance(self.similarity, PowerDistance)

    @property
    def ambiguity(self) -> Ambiguity:
        """What the theory leaves open: codes are the factors up to a map of this kind (and scales, signs, shifts)."""
        if isinstance(self.space, Sphere) and not self.has_free_widths:
            return "rotation"
        unaligned = self.space.log_volume == float("inf") and self.similarity == PowerDistance(2.0)
        return "affine map" if unaligned else "permutation"

    def __str__(self) -> str:
        return f"{self.space.name}, {self.conditional}{', free widths' if self.has_free_widths else ''}"
