"""Where the latents of scenes are, and how the paper's partners differ in them."""

from __future__ import annotations

from identica.laws import Normal
from identica.rendering.latents import LATENTS
from identica.spaces import Box

__all__ = ["LATENT_BOX", "PAPERS_PAIRS"]

LATENT_BOX = Box(len(LATENTS), -1.0, 1.0)
PAPERS_PAIRS = Normal(0.1)
