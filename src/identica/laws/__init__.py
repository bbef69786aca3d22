"""How latents are distributed, and how the two latents of a positive pair are related.

A law holds parameters and knows its noise; a space knows how noise is confined. `Marginal(space, law)` draws
latents, `Conditional(space, law)` draws the partner of each latent.
"""

from identica.laws.base import Conditional, Law, Marginal, rounded
from identica.laws.noise import AdditiveNoise, GeneralizedNormal, Laplace, Normal, Width
from identica.laws.parsing import parse_law
from identica.laws.per_factor import PerFactor
from identica.laws.product import ProductLaw
from identica.laws.uniform import Uniform
from identica.laws.vmf import VonMisesFisher

__all__ = [
    "AdditiveNoise",
    "Conditional",
    "GeneralizedNormal",
    "Laplace",
    "Law",
    "Marginal",
    "Normal",
    "PerFactor",
    "ProductLaw",
    "Uniform",
    "VonMisesFisher",
    "Width",
    "parse_law",
    "rounded",
]
