"""Variational autoencoders of images: an encoder, a decoder, and divergences that tell how codes should move."""

from identica.learners.vae.learner import AdaGVAELearner, BetaVAELearner, Brightness, SlowVAELearner, VAELearner
from identica.learners.vae.posterior import Posterior, laplace_divergence, normal_divergence, shared_posterior
from identica.learners.vae.settings import AdaGVAE, BetaVAE, SlowVAE, VAESettings, vae_recipe

__all__ = [
    "AdaGVAE",
    "AdaGVAELearner",
    "BetaVAE",
    "BetaVAELearner",
    "Brightness",
    "Posterior",
    "SlowVAE",
    "SlowVAELearner",
    "VAELearner",
    "VAESettings",
    "laplace_divergence",
    "normal_divergence",
    "shared_posterior",
    "vae_recipe",
]
