"""The SlowVAE: codes of partners differ by Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from identica import _checks
from identica.encoders import DeconvNet, Encoder
from identica.learners.vae.base import VAELearner, VAESettings
from identica.learners.vae.brightness import Brightness
from identica.learners.vae.posterior import Posterior, laplace_divergence

__all__ = ["SlowVAE", "SlowVAELearner"]


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
            "divergence": self.from_prior(posterior),
            "transition": self.gamma * both.sum(dim=1).mean() / 2,
        }
