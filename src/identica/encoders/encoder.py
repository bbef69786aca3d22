"""The whole of f: from observations to codes."""

from __future__ import annotations

from typing import final

from torch import Tensor, nn

from identica.encoders.heads import Head
from identica.encoders.whitening import Standardisation, Whitening

__all__ = ["Encoder"]


@final
class Encoder(nn.Module):
    """f = head ∘ backbone ∘ whitening.

    Args:
        backbone: Any module from (whitened) observations to unconstrained codes.
        head: Maps them onto the model's space.
        whitening: Applied first, if given: a `Whitening`, or for images a `Standardisation`.
    """

    def __init__(self, backbone: nn.Module, head: Head, whitening: Whitening | Standardisation | None = None) -> None:
        super().__init__()
        self.whitening = nn.Identity() if whitening is None else whitening
        self.backbone = backbone
        self.head: Head = head

    def forward(self, observations: Tensor) -> Tensor:
        """Codes of `observations`."""
        codes: Tensor = self.head(self.backbone(self.whitening(observations)))
        return codes
