"""What all variational autoencoders share, and how three of them differ."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders import DeconvNet, Encoder
from identica.learners.base import Learner
from identica.learners.vae.posterior import Posterior, laplace_divergence, normal_divergence, shared_posterior
from identica.sources import Source

__all__ = ["AdaGVAELearner", "BetaVAELearner", "Brightness", "SlowVAELearner", "VAELearner"]


@final
class Brightness(nn.Module):
    """x ↦ (x - low) / (high - low), clipped to [0, 1]: pixels as probabilities; not trained.

    Args:
        low: The value of a black pixel.
        high: That of a white one.
    """

    low: Tensor
    high: Tensor

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        if not low < high:
            raise InputError(f"high must be above low, got {high:g} and {low:g}")
        self.register_buffer("low", torch.tensor(float(low)))
        self.register_buffer("high", torch.tensor(float(high)))

    @classmethod
    def fit(cls, images: Tensor) -> Brightness:
        """The range of a sample of images."""
        if images.ndim != 4:
            raise InputError(f"images must have shape [count, channels, height, width], got {list(images.shape)}")
        low, high = (float(_checks.finite("images", end)) for end in images.aminmax())
        if low == high:
            raise InputError(f"images must vary, got {len(images)} whose pixels are all {low:g}")
        return cls(low, high)

    def forward(self, images: Tensor) -> Tensor:
        """Probabilities of white."""
        return ((images.to(self.low.dtype) - self.low) / (self.high - self.low)).clamp(0, 1)

    def inverse(self, probabilities: Tensor) -> Tensor:
        """Pixels in the units of the images."""
        return self.low + (self.high - self.low) * probabilities


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
        return first, second, noise

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        first, second, noise = batch
        pixels = self.brightness(torch.cat([first, second]))
        posterior = self.shared(Posterior(*self.encoder(pixels).chunk(2, dim=1)))
        logits = self.decoder(posterior.draw(noise))
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

    def _from_prior(self, posterior: Posterior) -> Tensor:
        return self.beta * normal_divergence(posterior).sum(dim=1).mean()


@final
class BetaVAELearner(VAELearner):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)): images one by one."""

    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        return {"divergence": self._from_prior(posterior)}


@final
class SlowVAELearner(VAELearner):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)) + γ E KL(q(z~ | x~) ‖ Laplace(z, 1/λ)).

    The last term is a mean over both directions, since pairs have none.

    Args:
        encoder: As `VAELearner` has it.
        decoder: As `VAELearner` has it.
        brightness: As `VAELearner` has it.
        beta: β.
        gamma: γ.
        rate: λ.
    """

    def __init__(
        self, encoder: Encoder, decoder: DeconvNet, brightness: Brightness, beta: float, gamma: float, rate: float
    ) -> None:
        super().__init__(encoder, decoder, brightness, beta)
        self.gamma, self.rate = gamma, rate

    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        first, second = posterior.halves()
        both = laplace_divergence(second, first, self.rate) + laplace_divergence(first, second, self.rate)
        return {
            "divergence": self._from_prior(posterior),
            "transition": self.gamma * both.sum(dim=1).mean() / 2,
        }


@final
class AdaGVAELearner(VAELearner):
    """-E_q log p(x | z) + β KL(q(z | x) ‖ N(0, 1)), with codes that partners share drawn from one average posterior."""

    def shared(self, posterior: Posterior) -> Posterior:
        return shared_posterior(posterior)

    def divergences(self, posterior: Posterior) -> dict[str, Tensor]:
        return {"divergence": self._from_prior(posterior)}
