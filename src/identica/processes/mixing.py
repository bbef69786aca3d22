"""The unknown g of the synthetic experiments: an invertible leaky-ReLU network."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError

__all__ = ["LeakyReLUMixing"]

_ENTRIES_PER_CHUNK = 5_000_000


@final
class LeakyReLUMixing(nn.Module):
    """x = W_L φ(… φ(W_1 z)), with φ a leaky ReLU and no bias; injective, with an exact inverse.

    The first layer lifts the N latents to the K observed coordinates, the others are K×K.

    Args:
        weights: The matrices W_1, …, W_L.
        slope: Slope of φ below zero.

    Example:
        >>> mixing = LeakyReLUMixing.draw(3, generator=torch.Generator().manual_seed(0), draws=100)
        >>> latents = torch.rand(5, 3)
        >>> torch.allclose(mixing.inverse(mixing(latents)), latents, atol=1e-4)
        True
    """

    def __init__(self, weights: list[Tensor], slope: float = 0.2) -> None:
        super().__init__()
        self.slope = _checks.positive("slope", slope)
        self.depth = len(weights)
        for index, weight in enumerate(weights):
            self.register_buffer(f"weight{index}", weight)

    @classmethod
    def draw(
        cls,
        dim: int,
        observed: int | None = None,
        *,
        generator: Generator,
        layers: int = 3,
        slope: float = 0.2,
        draws: int = 25_000,
    ) -> LeakyReLUMixing:
        """Draw the layers: entries uniform in [-1, 1], columns of norm 1, well conditioned.

        A layer is drawn until its condition number is at most the smallest one of `draws` random matrices.

        Args:
            dim: Number of latents N.
            observed: Number of observed coordinates K ≥ N; N if not given.
            generator: Source of randomness.
            layers: Number of matrices.
            slope: Slope of the leaky ReLU below zero.
            draws: How many matrices the bound on the condition number is taken from.
        """
        _checks.at_least_one("dim", dim)
        _checks.at_least_one("layers", layers)
        _checks.at_least_one("draws", draws)
        observed = dim if observed is None else observed
        if observed < dim:
            raise InputError(f"observed must be at least dim = {dim} for an invertible mixing, got {observed}")
        shapes = [(observed, dim)] + [(observed, observed)] * (layers - 1)
        bounds = {shape: _best_conditioned(shape, draws, generator)[1] for shape in dict.fromkeys(shapes)}
        return cls([_draw_below(shape, bounds[shape], draws, generator) for shape in shapes], slope)

    @property
    def dim(self) -> int:
        """Number of latents."""
        return int(self.weights[0].shape[1])

    @property
    def observed(self) -> int:
        """Number of observed coordinates."""
        return int(self.weights[-1].shape[0])

    @property
    def weights(self) -> list[Tensor]:
        """The matrices, from the latents up."""
        return [self.get_buffer(f"weight{index}") for index in range(self.depth)]

    def forward(self, latents: Tensor) -> Tensor:
        """Observations of `latents`, [count, observed]."""
        values = latents @ self.weights[0].T
        for weight in self.weights[1:]:
            values = nn.functional.leaky_relu(values, self.slope) @ weight.T
        return values

    def inverse(self, observations: Tensor) -> Tensor:
        """Latents of `observations`; exact on the image of the mixing."""
        values = observations
        for weight in reversed(self.weights[1:]):
            values = torch.linalg.solve(weight, values.T).T
            values = torch.where(values < 0, values / self.slope, values)
        return values @ torch.linalg.pinv(self.weights[0]).T


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
