"""What observations pass before they reach a network: fixed affine maps, measured on a sample."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from identica import _checks
from identica._checks import InputError

__all__ = ["Standardisation", "Whitening"]

# Part of the largest variance below which a direction is left out.
_LEAST_VARIANCE = 1e-10
_ENTRIES_PER_CHUNK = 5_000_000


@final
class Whitening(nn.Module):
    """x ↦ C^{-1/2} (x - m), with mean and covariance of a sample of observations; not trained."""

    mean: Tensor
    matrix: Tensor

    def __init__(self, mean: Tensor, matrix: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("matrix", matrix)

    @classmethod
    def fit(
        cls, observations: Tensor, *, centre: bool = True, dim: int | None = None, keep: int | None = None
    ) -> Whitening:
        """Measure mean and covariance; directions of little variance, likely noise, are not stretched to the full.

        Args:
            observations: A sample, [count, dim].
            centre: Subtract the mean; if False, m stays 0 and only the covariance is made even.
            dim: Give unit variance to so many directions, those of most variance, and stretch the others no more than
                the last of these; to all of them if not given, or if there are no more.
            keep: Leave out all directions but so many, those of most variance.
        """
        if observations.ndim != 2 or len(observations) <= (keep or observations.shape[1]):
            raise InputError(f"observations must be [count, dim] with count above dim, got {list(observations.shape)}")
        _checks.finite("observations", observations)
        sample = observations.double()
        mean = sample.mean(dim=0)
        variances, axes = torch.linalg.eigh(torch.cov((sample - mean).T).reshape(len(mean), len(mean)))
        usable = variances > variances[-1] * _LEAST_VARIANCE
        if keep is not None and keep < len(mean):
            usable[: len(mean) - keep] = False
        even = min(dim or len(mean), len(mean))
        last = variances[-even].clamp_min(variances[-1] * _LEAST_VARIANCE)
        inverse = torch.where(usable, variances.clamp_min(last).rsqrt(), 0.0)
        matrix = axes @ torch.diag(inverse) @ axes.T
        return cls((mean if centre else torch.zeros_like(mean)).to(observations.dtype), matrix.to(observations.dtype))

    def forward(self, observations: Tensor) -> Tensor:
        """Whitened observations."""
        return (observations - self.mean) @ self.matrix


@final
class Standardisation(nn.Module):
    """x ↦ (x - m) / s, with mean and deviation of each channel of images, or of each feature; not trained.

    Args:
        mean: m, one value per channel or feature.
        deviation: s, likewise.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)

    @classmethod
    def fit(cls, observations: Tensor) -> Standardisation:
        """Measure mean and deviation in double precision; a channel or feature that is constant becomes zero.

        Args:
            observations: A sample of any real type, [count, channels, height, width] or [count, features].
        """
        if observations.ndim not in (2, 4) or observations.numel() == 0 or observations.is_complex():
            raise InputError(
                "observations must be real numbers, [count, channels, height, width] or [count, features], "
                f"got {observations.dtype} of shape {list(observations.shape)}"
            )
        _checks.finite("observations", observations)
        origin, shift, variance = _shifted_moments(observations)
        deviation = variance.sqrt().float()
        if not deviation.any():
            raise InputError(f"observations must vary, got {len(observations)} that are constant and equal")
        return cls((origin + shift).float(), torch.where(deviation > 0, deviation, 1.0))

    def forward(self, observations: Tensor) -> Tensor:
        """Standardised observations, in the precision of the measured values."""
        over_pixels = (-1, *[1] * (observations.ndim - 2))
        centred = observations.to(self.mean.dtype) - self.mean.view(over_pixels)
        return centred / self.deviation.view(over_pixels)


def _shifted_moments(observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first value a, the mean of x - a, and the variance of each channel, in double precision, by chunks."""
    count, channels = observations.shape[:2]
    # Measured from a value of the sample, equal numbers have variance 0 exactly, and no other sample cancels to 0.
    origin = observations[0].reshape(channels, -1)[:, 0].double()
    first, second = torch.zeros_like(origin), torch.zeros_like(origin)
    rows = max(1, _ENTRIES_PER_CHUNK * count // observations.numel())
    for part in torch.split(observations, rows):
        shifted = part.reshape(len(part), channels, -1).double() - origin[:, None]
        first += shifted.sum(dim=(0, 2))
        second += shifted.square_().sum(dim=(0, 2))
    values = observations.numel() // channels
    shift = first / values
    return origin, shift, second / values - shift.square()
