"""Variational autoencoders as plain data."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import final

from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica.encoders import DeconvNet, Encoder, EncoderSettings, make_encoder
from identica.learners.base import LearnerSettings
from identica.learners.vae.learner import AdaGVAELearner, BetaVAELearner, Brightness, SlowVAELearner, VAELearner
from identica.models import Ambiguity
from identica.recipes import PROTOCOLS, Recipe, TrainingSettings
from identica.spaces import Real, Space

__all__ = ["AdaGVAE", "BetaVAE", "SlowVAE", "VAESettings", "vae_recipe"]


def vae_recipe(protocol: str) -> Recipe:
    """The recipe of that name for a variational autoencoder of images: Adam, and pixels as they are."""
    fast = _checks.choice("protocol", protocol, PROTOCOLS) == "fast"
    rate = 1e-3 if fast else 1e-4
    training = TrainingSettings(
        steps=6000 if fast else 300_000,
        batch_size=32,  # pairs: 64 images
        optimizer="adam",
        learning_rate=rate,
        bias_learning_rate=rate,
        scale_learning_rate=rate,
        schedule_scales=True,
        warmup=100 if fast else 0,
        cosine=fast,
        threads=0,
    )
    encoder = EncoderSettings(
        widths=(),
        slope=0.0,
        initialisation="kaiming",
        whiten="no",
        scale_start=1.0,
        logarithmic_scale=False,
        normalise_codes=False,
        network="conv",
    )
    return Recipe(protocol, training, encoder)


@dataclass(frozen=True)
class VAESettings(LearnerSettings):
    """What all of them have.

    Args:
        dim: Number of codes.
        beta: Weight of the divergence from the prior.
    """

    dim: int = 10
    beta: float = 1.0

    def __post_init__(self) -> None:
        _checks.at_least_one("dim", self.dim)
        _checks.not_negative("beta", self.beta)

    @property
    @abstractmethod
    def title(self) -> str:
        """What tables call it."""

    def __str__(self) -> str:
        own = [(one.name, getattr(self, one.name)) for one in fields(self) if getattr(self, one.name) != one.default]
        return self.title + (f"({', '.join(f'{name}={value:g}' for name, value in own)})" if own else "")

    @property
    def ambiguity(self) -> Ambiguity:
        return "permutation"

    @property
    def code_space(self) -> Space:
        return Real(self.dim)

    def recipe(self, protocol: str) -> Recipe:
        return vae_recipe(protocol)

    def build(self, recipe: Recipe, sample: Tensor, generator: Generator) -> VAELearner:
        if sample.ndim != 4:
            raise InputError(
                f"{self.title} needs images of shape [channels, height, width], "
                f"got observations of shape {list(sample.shape[1:])}"
            )
        brightness = Brightness.fit(sample)
        encoder = make_encoder(recipe.encoder, Real(2 * self.dim), brightness(sample), generator)
        channels, height, width = sample.shape[1:]
        return self.assembled(encoder, DeconvNet(self.dim, channels, height, width, generator=generator), brightness)

    @abstractmethod
    def assembled(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness) -> VAELearner:
        """The learner of these parts."""

    def describe(self) -> str:
        return f"A variational autoencoder learnt from pairs of images alone: {self}; codes are posterior means."


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
@dataclass(frozen=True)
class SlowVAE(VAESettings):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)) + γ KL(q(z~ | x~) ‖ Laplace(z, 1/λ)) (Klindt et al., 2020).

    Args:
        dim: Number of codes.
        beta: β.
        gamma: γ; 0 leaves a β-VAE.
        rate: λ.
    """

    gamma: float = 10.0
    rate: float = 6.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.not_negative("gamma", self.gamma)
        _checks.positive("rate", self.rate)

    @property
    def title(self) -> str:
        return "SlowVAE"

    def assembled(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness) -> SlowVAELearner:
        return SlowVAELearner(encoder, decoder, brightness, self.beta, self.gamma, self.rate)


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
