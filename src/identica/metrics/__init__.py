"""How well codes identify latents: pure functions (latents, codes) -> numbers."""

from identica.metrics.scores import Score, linear_r2, mcc

__all__ = ["Score", "linear_r2", "mcc"]
