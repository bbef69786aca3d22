"""Where latents live: a constraint, a way back into it, and a membership check that explains itself."""

from __future__ import annotations

from identica import _checks
from identica.spaces.base import Noise, Space
from identica.spaces.box import Box
from identica.spaces.product import Product
from identica.spaces.real import Real
from identica.spaces.sphere import Sphere

__all__ = ["NAMED_SPACES", "Box", "Noise", "Product", "Real", "Space", "Sphere", "parse_space"]

NAMED_SPACES: dict[str, type[Sphere] | type[Box] | type[Real]] = {space.name: space for space in (Sphere, Box, Real)}
"""The spaces that a user can name, the most restrictive first."""


def parse_space(name: str, dim: int) -> Space:
    """The space a user names: `sphere`, `box` ([0, 1]^dim) or `unbounded`."""
    return NAMED_SPACES[_checks.choice("space", name, NAMED_SPACES)](dim)
