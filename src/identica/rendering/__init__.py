"""Pictures of a teapot over a ground under a spotlight, from ten latents."""

from identica.rendering.latents import LATENTS, to_scene, to_unit

__all__ = ["LATENTS", "to_scene", "to_unit"]
