"""The β-VAE: images one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from identica.encoders import DeconvNet, Encoder
from identica.learners.vae.base import VAELearner, VAESettings
from identica.learners.vae.brightness import Brightness
from identica.learners.vae.posterior import Posterior
from identica.models import Ambiguity

__all__ = ["BetaVAE", "BetaVAELearner"]


@final
@dataclass(frozen=True)
class BetaVAE(VAESettings):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)) (Higgins et al., 2017). It takes images one by one.

    Args:
        dim: Number of codes.
        beta: β.
    """

    @property
    def title(self) -> str:
        return "β-VAE"

    @property
    def ambiguity(self) -> Ambiguity:
        return "affine map"

    def assembled(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness) -> BetaVAELearner:
        return BetaVAELearner(encoder, decoder, brightness, self.beta)


@final
class BetaVAELearner(VAELearner):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)): images one by one."""

    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        return {"divergence": self.from_prior(posterior)}
