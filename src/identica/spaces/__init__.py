"""Where latents live: a constraint, a way back into it, and a membership check that explains itself."""

from identica.spaces.base import Noise, Space
from identica.spaces.box import Box
from identica.spaces.names import NAMED_SPACES, parse_space
from identica.spaces.product import Product
from identica.spaces.real import Real
from identica.spaces.sphere import Sphere

__all__ = ["NAMED_SPACES", "Box", "Noise", "Product", "Real", "Space", "Sphere", "parse_space"]
