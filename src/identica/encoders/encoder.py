"""The whole of f: from observations to codes."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from identica.encoders.heads import Head
from identica.encoders.noise import InputNoise
from identica.encoders.units import Stretch, Units
from identica.encoders.whitening import Standardisation, Whitening

__all__ = ["Encoder"]


@final
class Encoder(nn.Module):
    """f = stretch ∘ head ∘ backbone ∘ noise ∘ whitening ∘ scaling ∘ wide.

    Args:
        backbone: Any module from (whitened) observations to unconstrained codes.
        head: Maps them onto the model's space.
        whitening: Applied next to first, if given: a `Whitening`, or for images a `Standardisation`.
        stretch: Applied last, if given: a learnable width for each code.
        scaling: Applied before that, if given, to each value by itself.
        noise: Deviation of the noise on what the backbone sees in training.
        bfloat16: Whether the backbone computes with 16 bits in training. Head and loss never do: distances of near
            codes would be rounded away.
        wide: Applied first, if given: an encoder that was trained before, whose codes are the observations of this one.
    """

    def __init__(
        self,
        backbone: nn.Module,
        head: Head,
        whitening: Whitening | Standardisation | None = None,
        stretch: Stretch | None = None,
        scaling: nn.Module | None = None,
        noise: float = 0.0,
        bfloat16: bool = False,
        wide: Encoder | None = None,
    ) -> None:
        super().__init__()
        self.wide = wide
        self.scaling = nn.Identity() if scaling is None else scaling
        self.whitening = nn.Identity() if whitening is None else whitening
        self.noise = InputNoise(noise) if noise > 0 else nn.Identity()
        self.backbone, self.in_bfloat16 = backbone, bfloat16
        self.head: Head = head
        self.stretch = nn.Identity() if stretch is None else stretch

    def units(self, codes: Tensor) -> Units:
        """The units of these codes, a sample of what this encoder gives; a stretch is taken out."""
        if not isinstance(self.stretch, Stretch):
            return self.head.units(codes)
        factors = self.stretch.factors().detach().to(codes)
        plain = self.head.units(codes / factors)
        return Units(plain.shift * factors, plain.factor / factors)

    def front(self, observations: Tensor) -> Tensor:
        """What is not trained: scaled and whitened observations, or wide codes of them."""
        values: Tensor = self.whitening(self.scaling(observations if self.wide is None else self.wide(observations)))
        return values

    def behind_front(self, values: Tensor) -> Tensor:
        """Codes of what `front` gives, that all have one width."""
        codes: Tensor = self.head(self._raw(self.noise(values)))
        return codes

    def _raw(self, values: Tensor) -> Tensor:
        if not (self.in_bfloat16 and self.training):
            raw: Tensor = self.backbone(values)
            return raw
        with torch.autocast(values.device.type, torch.bfloat16):
            raw = self.backbone(values)
        return raw.to(values.dtype)

    def unstretched(self, observations: Tensor) -> Tensor:
        """Codes of `observations` that all have one width."""
        return self.behind_front(self.front(observations))

    def forward(self, observations: Tensor) -> Tensor:
        """Codes of `observations`."""
        codes: Tensor = self.stretch(self.unstretched(observations))
        return codes
