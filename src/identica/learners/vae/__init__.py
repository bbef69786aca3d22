"""Variational autoencoders of images: an encoder, a decoder, and divergences that tell how codes should move."""

from identica.learners.vae.ada import AdaGVAE, AdaGVAELearner
from identica.learners.vae.base import VAELearner, VAESettings
from identica.learners.vae.beta import BetaVAE, BetaVAELearner
from identica.learners.vae.brightness import Brightness
from identica.learners.vae.posterior import Posterior, laplace_divergence, normal_divergence, shared_posterior
from identica.learners.vae.slow import SlowVAE, SlowVAELearner

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
]
