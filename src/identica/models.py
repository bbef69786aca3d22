"""What is assumed about the factors and their pairs: a space and a family of conditionals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, final

from identica import _checks
from identica._checks import InputError
from identica.objectives import DotProduct, PowerDistance, Similarity

__all__ = ["SPACES", "Ambiguity", "Model", "with_article"]

SPACES = ("sphere", "box", "unbounded")
"""Names of the spaces that can be assumed, the most restrictive first."""

Ambiguity = Literal["rotation", "affine map", "permutation"]
"""The kind of map that the theory leaves open between factors and codes."""


@final
@dataclass(frozen=True)
class Model:
    """What the encoder assumes: the space of its codes and the family of q(z~ | z).

    Args:
        space: `sphere`, `box` or `unbounded`.
        conditional: `vmf`, `laplace`, `normal` or `gennorm(beta=…)`; its scale is learnt, never given.
    """

    space: str
    conditional: str

    def __post_init__(self) -> None:
        _checks.choice("model space", self.space, SPACES)
        if isinstance(self.similarity, DotProduct) and self.space != "sphere":
            raise InputError(f"the vmf model needs the sphere as model space, got {self.space!r}")

    @property
    def similarity(self) -> Similarity:
        """The similarity whose InfoNCE fits this model: a dot product, or a distance to the power α."""
        match = re.fullmatch(r"gennorm\(beta=([\d.]+)\)", self.conditional.replace(" ", ""))
        if match is not None:
            return PowerDistance(float(match[1]))
        families: dict[str, Similarity] = {
            "vmf": DotProduct(),
            "laplace": PowerDistance(1.0),
            "normal": PowerDistance(2.0),
        }
        return families[_checks.choice("model conditional", self.conditional, [*families, "gennorm(beta=3)"])]

    @property
    def ambiguity(self) -> Ambiguity:
        """What the theory leaves open: codes are the factors up to a map of this kind (and scales, signs, shifts)."""
        if self.space == "sphere":
            return "rotation"
        unaligned = self.space == "unbounded" and self.similarity == PowerDistance(2.0)
        return "affine map" if unaligned else "permutation"

    def __str__(self) -> str:
        return f"{self.space}, {self.conditional}"


def with_article(ambiguity: str) -> str:
    """A rotation, an affine map, a permutation: as it stands in a sentence."""
    return f"{'an' if ambiguity.startswith('a') else 'a'} {ambiguity}"
