"""The unknown g of the synthetic experiments: an invertible network of random layers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, final, get_args

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError

__all__ = ["Activation", "Layers", "Mixing", "parse_mixing"]

Activation = Literal["leaky-relu", "softplus", "wave"]
"""What stands between the layers: a kink, a smooth bend, or x + 0.4 sin 2x; each rises everywhere."""

_ENTRIES_PER_CHUNK = 5_000_000
_WAVE = 0.4
_BISECTIONS = 60


@final
class Mixing(nn.Module):
    """x = W_L φ(… φ(W_1 z + b_1)) + b_L, with a rising φ; injective, with an exact inverse.

    The first layer lifts the N latents to the K observed coordinates, the others are K×K.

    Args:
        weights: The matrices W_1, …, W_L.
        biases: The vectors b_1, …, b_L; none if not given.
        activation: φ.
        slope: Of the leaky ReLU below zero.

    Example:
        >>> mixing = Layers().draw(3, generator=torch.Generator().manual_seed(0), draws=100)
        >>> latents = torch.rand(5, 3)
        >>> torch.allclose(mixing.inverse(mixing(latents)), latents, atol=1e-4)
        True
    """

    def __init__(
        self,
        weights: list[Tensor],
        biases: list[Tensor] | None = None,
        activation: Activation = "leaky-relu",
        slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.activation = _checks.choice("activation", activation, get_args(Activation))
        self.slope = _checks.positive("slope", slope)
        self.depth = len(weights)
        for index, weight in enumerate(weights):
            self.register_buffer(f"weight{index}", weight)
            self.register_buffer(f"bias{index}", None if biases is None else biases[index])

    @property
    def weights(self) -> list[Tensor]:
        """The matrices, first layer first."""
        return [self.get_buffer(f"weight{index}") for index in range(self.depth)]

    @property
    def biases(self) -> list[Tensor | None]:
        """What is added behind each matrix."""
        return [getattr(self, f"bias{index}") for index in range(self.depth)]

    @property
    def dim(self) -> int:
        """Number of latents."""
        return self.weights[0].shape[1]

    @property
    def observed(self) -> int:
        """Number of observed coordinates."""
        return self.weights[-1].shape[0]

    def forward(self, latents: Tensor) -> Tensor:
        """Observations of `latents`, [count, observed]."""
        values = latents
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = (values if index == 0 else self._bend(values)) @ weight.T
            values = values if bias is None else values + bias
        return values

    def inverse(self, observations: Tensor) -> Tensor:
        """Latents of `observations`, up to rounding; exists on the image of the mixing alone."""
        values = observations
        layers = list(zip(self.weights, self.biases, strict=True))
        for weight, bias in reversed(layers[1:]):
            values = torch.linalg.solve(weight, (values if bias is None else values - bias).T).T
            values = self._unbend(values)
        weight, bias = layers[0]
        return (values if bias is None else values - bias) @ torch.linalg.pinv(weight).T

    def _bend(self, values: Tensor) -> Tensor:
        if self.activation == "leaky-relu":
            return nn.functional.leaky_relu(values, self.slope)
        return nn.functional.softplus(values) if self.activation == "softplus" else _wave(values)

    def _unbend(self, values: Tensor) -> Tensor:
        if self.activation == "leaky-relu":
            return torch.where(values < 0, values / self.slope, values)
        if self.activation == "softplus":
            return values + torch.log(-torch.expm1(-values))
        low, high = values - _WAVE, values + _WAVE  # bisection: the wave leaves no point farther than that
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            below = _wave(middle) < values
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return (low + high) / 2


@final
@dataclass(frozen=True)
class Layers:
    """A mixing as plain data: random, well-conditioned layers; by default the paper's.

    Args:
        layers: Number of matrices.
        activation: What stands between them.
        slope: Of the leaky ReLU below zero.
        bias: Deviation of what is added behind each matrix; 0 for nothing.
    """

    layers: int = 3
    activation: Activation = "leaky-relu"
    slope: float = 0.2
    bias: float = 0.0

    def __post_init__(self) -> None:
        _checks.at_least_one("layers", self.layers)
        _checks.choice("activation", self.activation, get_args(Activation))
        _checks.positive("slope", self.slope)
        _checks.not_negative("bias", self.bias)

    def __str__(self) -> str:
        changed = [one for one in fields(self) if getattr(self, one.name) != one.default]
        return f"layers({', '.join(f'{one.name}={_written(getattr(self, one.name))}' for one in changed)})"

    def draw(self, dim: int, observed: int | None = None, *, generator: Generator, draws: int = 25_000) -> Mixing:
        """Draw the layers: entries uniform in [-1, 1], columns of norm 1, well conditioned.

        A layer is drawn until its condition number is at most the smallest one of `draws` random matrices.

        Args:
            dim: Number of latents N.
            observed: Number of observed coordinates K ≥ N; N if not given.
            generator: Source of randomness.
            draws: How many matrices the bound on the condition number is taken from.
        """
        _checks.at_least_one("dim", dim)
        _checks.at_least_one("draws", draws)
        observed = dim if observed is None else observed
        if observed < dim:
            raise InputError(f"observed must be at least dim = {dim} for an invertible mixing, got {observed}")
        weights = _draw_weights(dim, observed, self.layers, generator, draws)
        if self.bias == 0:
            return Mixing(weights, None, self.activation, self.slope)
        noise = [torch.randn(observed, generator=generator, device=generator.device) for _ in weights]
        return Mixing(weights, [self.bias * value for value in noise], self.activation, self.slope)


def parse_mixing(text: str) -> Layers:
    """Read a mixing as it prints: `layers(layers=5)`, `layers(activation=softplus)`, `layers(slope=0.5, bias=0.3)`."""
    match = re.fullmatch(r"\s*layers\s*\((.*)\)\s*", text)
    if match is None:
        raise InputError(f"cannot read the mixing {text!r}: write it like 'layers(layers=5, activation=softplus)'")
    kinds: dict[str, Callable[[str], Any]] = {"layers": int, "activation": str, "slope": float, "bias": float}
    values: dict[str, Any] = {}
    for item in filter(None, (piece.strip() for piece in match[1].split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        kind = kinds[_checks.choice("parameter of layers", name, kinds)]
        try:
            values[name] = kind(value)
        except ValueError:
            raise InputError(f"{name} in {text!r} must be a number, got {value!r}") from None
    return Layers(**values)


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _wave(values: Tensor) -> Tensor:
    return values + _WAVE * torch.sin(2 * values)


def _draw_weights(dim: int, observed: int, layers: int, generator: Generator, draws: int) -> list[Tensor]:
    shapes = [(observed, dim)] + [(observed, observed)] * (layers - 1)
    bounds = {shape: _best_conditioned(shape, draws, generator)[1] for shape in dict.fromkeys(shapes)}
    return [_draw_below(shape, bounds[shape], draws, generator) for shape in shapes]


def _best_conditioned(shape: tuple[int, int], draws: int, generator: Generator) -> tuple[Tensor, float]:
    """The matrix with the smallest condition number of `draws` random ones, and that number."""
    chunk = max(1, _ENTRIES_PER_CHUNK // (shape[0] * shape[1]))
    best: Tensor | None = None
    lowest = float("inf")
    for start in range(0, draws, chunk):
        count = min(chunk, draws - start)
        matrices = 2 * torch.rand(count, *shape, generator=generator, device=generator.device) - 1
        matrices = matrices / matrices.norm(dim=1, keepdim=True)
        singular = torch.linalg.svdvals(matrices)
        conditions = singular[:, 0] / singular[:, -1]
        index = int(conditions.argmin())
        if best is None or float(conditions[index]) < lowest:
            best, lowest = matrices[index].clone(), float(conditions[index])
    assert best is not None
    return best, lowest


def _draw_below(shape: tuple[int, int], bound: float, draws: int, generator: Generator) -> Tensor:
    while True:
        matrix, condition = _best_conditioned(shape, draws, generator)
        if condition <= bound:
            return matrix
