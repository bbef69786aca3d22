"""What all variational autoencoders share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders import ConvNet, DeconvNet, Encoder, make_encoder
from identica.learners.base import Learner, LearnerSettings
from identica.learners.vae.brightness import Brightness
from identica.learners.vae.posterior import Posterior, normal_divergence
from identica.models import Ambiguity
from identica.recipes import Recipe, vae_recipe
from identica.sources import Source
from identica.spaces import Real, Space

__all__ = ["VAELearner", "VAESettings"]


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
        fold = encoder.backbone.fold if isinstance(encoder.backbone, ConvNet) else 1
        decoder = DeconvNet(self.dim, *sample.shape[1:], generator=generator, fold=fold)
        return self.assembled(encoder, decoder, brightness)

    @abstractmethod
    def assembled(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness) -> VAELearner:
        """The learner of these parts."""

    def describe(self) -> str:
        return f"A variational autoencoder learnt from pairs of images alone: {self}; codes are posterior means."


class VAELearner(Learner):
    """-E_q log p(x | z) + divergences, with a normal posterior and Bernoulli pixels; means over images.

    Both halves of a pair are decoded. Codes are means of the posterior.

    Args:
        encoder: From images to means and log variances side by side.
        decoder: From codes to logits of pixels.
        brightness: Makes pixels probabilities.
        beta: Weight of the divergence from the standard normal prior.
    """

    def __init__(self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness, beta: float) -> None:
        super().__init__()
        self.encoder, self.decoder, self.brightness, self.beta = encoder, decoder, brightness, beta
        self._parts: dict[str, Tensor] = {}

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        first, second = source.pairs(count, generator)
        noise = torch.randn(2 * len(first), self.decoder.inputs, generator=generator, device=generator.device)
        return first, second, *noise.chunk(2)  # a row for each row of a half

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        first, second, *noise = batch
        pixels = self.brightness(torch.cat([first, second]))
        posterior = self.shared(Posterior(*self.encoder(pixels).chunk(2, dim=1)))
        logits = self.decoder(posterior.draw(torch.cat(noise)))
        errors = nn.functional.binary_cross_entropy_with_logits(logits, pixels, reduction="sum")
        parts = {"reconstruction": errors / len(pixels)} | self.divergences(posterior)
        self._parts = {name: value.detach() for name, value in parts.items()}
        return torch.stack(list(parts.values())).sum()

    def parts(self) -> dict[str, Tensor]:
        return self._parts

    def shared(self, posterior: Posterior) -> Posterior:
        """The posterior that codes are drawn from, when both halves of pairs are known."""
        return posterior

    @abstractmethod
    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        """All terms of the loss beside the reconstruction, with their weights."""

    def posterior(self, observations: Tensor) -> Posterior:
        """q(z | x) of each image."""
        return Posterior(*self.encoder(self.brightness(observations)).chunk(2, dim=1))

    def codes(self, observations: Tensor) -> Tensor:
        return self.posterior(observations).mean

    def decode(self, codes: Tensor) -> Tensor:
        """The mean image of each code, [count, channels, height, width], in the units of the observations."""
        return self.brightness.inverse(torch.sigmoid(self.decoder(codes)))

    def from_prior(self, posterior: Posterior) -> Tensor:
        """β KL(q(z | x) ‖ N(0, 1)), the mean over images."""
        return self.beta * normal_divergence(posterior).sum(dim=1).mean()
