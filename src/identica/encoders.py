"""Networks f from observations to codes: a whitening, a backbone, and a head onto a space."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal, final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError

__all__ = ["MLP", "BoxHead", "Encoder", "NormalisedHead", "RealHead", "Scale", "SphereHead", "Whitening", "make_head"]

Initialisation = Literal["kaiming", "torch"]

_ORDERS = {"unbounded": 2.0, "box": 5.0}
_SMALLEST_WIDTH = 1e-6


@final
class MLP(nn.Sequential):
    """Linear layers with leaky ReLUs between them.

    Args:
        inputs: Number of observed coordinates.
        outputs: Number of codes.
        widths: Hidden widths.
        slope: Slope of the leaky ReLU below zero.
        initialisation: `kaiming` (normal, matched to the slope, zero biases) or `torch` (the default of `nn.Linear`).
        generator: Source of the initial weights.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        widths: Sequence[int],
        *,
        generator: Generator,
        slope: float = 0.01,
        initialisation: Initialisation = "torch",
    ) -> None:
        _checks.choice("initialisation", initialisation, ("kaiming", "torch"))
        sizes = [inputs, *widths, outputs]
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise(sizes):
            # In place: the backward passes of both layers need the activations only, so one tensor is kept, not two.
            layers += [_linear(fan_in, fan_out, slope, initialisation, generator), nn.LeakyReLU(slope, inplace=True)]
        super().__init__(*layers[:-1])

    @staticmethod
    def paper_widths(dim: int) -> tuple[int, ...]:
        """Hidden widths of the paper's encoder for N latents: 10N, 50N, 50N, 50N, 50N, 10N."""
        return tuple(dim * factor for factor in (10, 50, 50, 50, 50, 10))


def _linear(fan_in: int, fan_out: int, slope: float, initialisation: str, generator: Generator) -> nn.Linear:
    layer = nn.utils.skip_init(nn.Linear, fan_in, fan_out, device=generator.device)  # type: ignore[no-untyped-call]
    assert isinstance(layer, nn.Linear)
    if initialisation == "kaiming":
        nn.init.kaiming_normal_(layer.weight, a=slope, generator=generator)
        nn.init.zeros_(layer.bias)
    else:
        bound = 1 / math.sqrt(fan_in)
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
    return layer


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
    def fit(cls, observations: Tensor, *, centre: bool = True) -> Whitening:
        """Measure mean and covariance; directions without variance are left out, not blown up.

        Args:
            observations: A sample, [count, dim].
            centre: Subtract the mean; if False, m stays 0 and only the covariance is made even.
        """
        if observations.ndim != 2 or observations.shape[0] <= observations.shape[1]:
            raise InputError(f"observations must be [count, dim] with count above dim, got {list(observations.shape)}")
        _checks.finite("observations", observations)
        sample = observations.double()
        mean = sample.mean(dim=0)
        variances, axes = torch.linalg.eigh(torch.cov((sample - mean).T))
        usable = variances > variances[-1] * 1e-10
        inverse = torch.where(usable, variances.clamp_min(torch.finfo(torch.float64).tiny).rsqrt(), 0.0)
        matrix = axes @ torch.diag(inverse) @ axes.T
        return cls((mean if centre else torch.zeros_like(mean)).to(observations.dtype), matrix.to(observations.dtype))

    def forward(self, observations: Tensor) -> Tensor:
        """Whitened observations."""
        return (observations - self.mean) @ self.matrix


@final
class Scale(nn.Module):
    """A learnable positive size s, kept as itself or as its logarithm.

    Args:
        count: How many sizes.
        start: Their first value.
        logarithmic: Learn log s (steps are relative) instead of s.
        learnable: Keep the size fixed if False.
    """

    def __init__(self, count: int, start: float, *, logarithmic: bool = True, learnable: bool = True) -> None:
        super().__init__()
        _checks.positive("start", start)
        self.logarithmic = logarithmic
        value = torch.full((count,), math.log(start) if logarithmic else start)
        self.raw = nn.Parameter(value, requires_grad=learnable)

    def forward(self) -> Tensor:
        """The sizes, [count]."""
        return self.raw.exp() if self.logarithmic else self.raw


@final
class SphereHead(nn.Module):
    """y ↦ r · y / ‖y‖, with a learnable radius r."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points on a sphere of learnt radius."""
        scaled: Tensor = self.scale() * nn.functional.normalize(values, dim=-1)
        return scaled


@final
class BoxHead(nn.Module):
    """y ↦ b · sigmoid(y), with a learnable bound b for each coordinate."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(dim, start, logarithmic=logarithmic)

    def forward(self, values: Tensor) -> Tensor:
        """Points in a box with learnt bounds."""
        scaled: Tensor = self.scale() * torch.sigmoid(values)
        return scaled


@final
class RealHead(nn.Module):
    """y ↦ s · y, with a fixed or learnable scale s; the paper's unbounded space has s = 1, fixed."""

    def __init__(self, dim: int, start: float = 1.0, *, logarithmic: bool = True, learnable: bool = False) -> None:
        super().__init__()
        self.dim = dim
        self.scale = Scale(1, start, logarithmic=logarithmic, learnable=learnable)

    def forward(self, values: Tensor) -> Tensor:
        """Unbounded points."""
        scaled: Tensor = self.scale() * values
        return scaled


@final
class NormalisedHead(nn.Module):
    """y ↦ s · (y - m) / w, with m the mean and w the width of each output, and a learnable scale s.

    The width is w = 2 ((p + 1) E|y - m|^p)^(1/p): for a uniform law its full width, whatever p. With p = 2 codes are
    standardised and their shape is free: an unbounded space whose scale stands in s, not in the weights, where it
    would run away and saturate the loss. The higher p, the more it is the range that is fixed: p = 5 makes a soft box,
    that favours codes that are uniform over it without the flat ends of a sigmoid. While training, m and w are those of
    the batch; afterwards their running averages.

    Args:
        dim: Number of codes.
        start: First value of s.
        order: p.
        logarithmic: Learn log s instead of s.
        momentum: Weight of the latest batch in the running averages.
    """

    mean: Tensor
    width: Tensor

    def __init__(
        self, dim: int, start: float = 1.0, *, order: float, logarithmic: bool = True, momentum: float = 0.05
    ) -> None:
        super().__init__()
        _checks.positive("order", order)
        self.dim, self.order, self.momentum = dim, order, momentum
        self.scale = Scale(1, start, logarithmic=logarithmic)
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("width", torch.ones(dim))

    def forward(self, values: Tensor) -> Tensor:
        """Points of controlled size."""
        if self.training:
            mean, width = self._measure(values)
            with torch.no_grad():
                self.mean.lerp_(mean, self.momentum)
                self.width.lerp_(width, self.momentum)
        else:
            mean, width = self.mean, self.width
        scaled: Tensor = self.scale() * (values - mean) / width
        return scaled

    def _measure(self, values: Tensor) -> tuple[Tensor, Tensor]:
        mean = values.mean(dim=0)
        moment = (values - mean).abs().pow(self.order).mean(dim=0)
        width = 2 * ((self.order + 1) * moment).pow(1 / self.order)
        return mean, width.clamp_min(_SMALLEST_WIDTH)


def make_head(
    space: str, dim: int, start: float = 1.0, *, logarithmic: bool = True, normalised: bool = False
) -> nn.Module:
    """The head onto the space a user names: `sphere`, `box` or `unbounded`; the last two by bounds or by moments."""
    _checks.choice("space", space, ("sphere", "box", "unbounded"))
    if normalised and space != "sphere":
        return NormalisedHead(dim, start, order=_ORDERS[space], logarithmic=logarithmic)
    heads: dict[str, type[SphereHead] | type[BoxHead] | type[RealHead]] = {
        "sphere": SphereHead,
        "box": BoxHead,
        "unbounded": RealHead,
    }
    return heads[space](dim, start, logarithmic=logarithmic)


@final
class Encoder(nn.Module):
    """f = head ∘ backbone ∘ whitening.

    Args:
        backbone: Any module from (whitened) observations to unconstrained codes.
        head: Maps them onto the model's space.
        whitening: Applied first, if given.
    """

    def __init__(self, backbone: nn.Module, head: nn.Module, whitening: Whitening | None = None) -> None:
        super().__init__()
        self.whitening = nn.Identity() if whitening is None else whitening
        self.backbone = backbone
        self.head = head

    def forward(self, observations: Tensor) -> Tensor:
        """Codes of `observations`."""
        codes: Tensor = self.head(self.backbone(self.whitening(observations)))
        return codes
