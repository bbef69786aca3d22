"""What each observed value passes first: counts and heavy tails are brought nearer to a normal law."""

from __future__ import annotations

from typing import Literal, final

import torch
from torch import Tensor, nn

__all__ = ["SCALINGS", "RobustScaling", "Scaling", "SignedLog", "SignedRoot", "make_scaling", "scaling_like"]

Scaling = Literal["none", "sqrt", "log1p", "robust"]
"""Names of the scalings."""

SCALINGS: tuple[Scaling, ...] = ("none", "sqrt", "log1p", "robust")
"""All of them."""

_MOST_SAMPLED = 16_384
# Spreads beyond which a value is drawn near.
_FAR = 10.0


@final
class SignedRoot(nn.Module):
    """x ↦ sign(x) √|x|: the variance of counts no longer grows with their mean."""

    def forward(self, values: Tensor) -> Tensor:
        """Roots that keep their sign."""
        return values.sign() * values.abs().sqrt()


@final
class SignedLog(nn.Module):
    """x ↦ sign(x) log(1 + |x|): for values over several orders of magnitude."""

    def forward(self, values: Tensor) -> Tensor:
        """Logarithms that keep their sign."""
        return values.sign() * values.abs().log1p()


@final
class RobustScaling(nn.Module):
    """x ↦ (x - median) / spread of each feature, by its quartiles: for different units, and for outliers.

    Args:
        median: Of each feature.
        spread: Half the distance of its quartiles; its deviation where these are equal.
    """

    median: Tensor
    spread: Tensor

    def __init__(self, median: Tensor, spread: Tensor) -> None:
        super().__init__()
        self.register_buffer("median", median)
        self.register_buffer("spread", spread)

    @classmethod
    def fit(cls, sample: Tensor) -> RobustScaling:
        """Measure them on a sample, [count, features]."""
        values = sample[:_MOST_SAMPLED].double()
        low, median, high = torch.quantile(values, torch.tensor([0.25, 0.5, 0.75], dtype=values.dtype), dim=0)
        spread = (high - low) / 2
        spread = torch.where(spread > 0, spread, values.std(dim=0))
        return cls(median.float(), torch.where(spread > 0, spread, 1.0).float())

    def forward(self, values: Tensor) -> Tensor:
        """Scaled values; what lies more than ten spreads away is drawn near."""
        scaled = (values - self.median) / self.spread
        beyond = (scaled.abs() - _FAR).clamp_min(0)
        return scaled.clamp(-_FAR, _FAR) + scaled.sign() * beyond.log1p()


def make_scaling(name: Scaling, sample: Tensor) -> nn.Module:
    """The scaling of that name; `robust` is measured on the sample."""
    made: dict[str, nn.Module] = {"none": nn.Identity(), "sqrt": SignedRoot(), "log1p": SignedLog()}
    return made[name] if name in made else RobustScaling.fit(sample)


def scaling_like(name: Scaling, features: int) -> nn.Module:
    """The same module with numbers yet to be read."""
    if name == "robust":
        return RobustScaling(torch.zeros(features), torch.ones(features))
    return make_scaling(name, torch.zeros(1, features))
