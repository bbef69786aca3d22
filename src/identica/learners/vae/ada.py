"""The Ada-GVAE: partners share the codes that look alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from identica.encoders import DeconvNet, Encoder
from identica.learners.vae.base import VAELearner, VAESettings
from identica.learners.vae.brightness import Brightness
from identica.learners.vae.posterior import Posterior, shared_posterior

__all__ = ["AdaGVAE", "AdaGVAELearner"]


@final
@dataclass(frozen=True)
class AdaGVAE(VAESettings):
    """A β-VAE whose partners share the codes that look alike, by averaged posteriors (Locatello et al., 2020).

    Args:
        dim: Number of codes.
        beta: β.
    """

    @property
    def title(self) -> str:
        return "Ada-GVAE"

    def assembled(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness) -> AdaGVAELearner:
        return AdaGVAELearner(encoder, decoder, brightness, self.beta)


@final
class AdaGVAELearner(VAELearner):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)), with codes that partners share drawn from one average posterior."""

    def shared(self, posterior: Posterior) -> Posterior:
        return shared_posterior(posterior)

    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        return {"divergence": self.from_prior(posterior)}
