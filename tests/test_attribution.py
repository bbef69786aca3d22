from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from attribution import margin
from identica import ContrastiveICA
from identica._checks import InputError
from identica.attribution import attribute

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(400, 4))
X_POS = X + RANDOM.laplace(scale=0.05, size=X.shape)
QUICK: dict[str, Any] = {"max_steps": 3, "batch_size": 64, "random_state": 0}


class Known(nn.Module):
    """Codes whose gradients are known."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([[3.0, 0.0], [0.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values @ self.weights


def test_a_known_map_has_known_gradients() -> None:
    model = ContrastiveICA(2, encoder="linear", space="unbounded", **QUICK).fit(X, X_POS)
    model.encoder_ = nn.Sequential(Known())
    found = attribute(model, X)
    spread = X.std(axis=0, ddof=1)
    codes = X @ Known().weights.detach().numpy()
    expected = np.abs(Known().weights.detach().numpy().T) * spread / codes.std(axis=0, ddof=1)[:, None]
    assert np.allclose(found.values, expected, rtol=1e-5)
    assert found.channels == ("x0", "x1", "x2", "x3")
    assert [name for name, _ in found.ranked(0)] == ["x0", "x3", "x1", "x2"]
    assert found.ranked()[-1] == ("x1", 0.0)


def test_channels_without_a_factor_come_last() -> None:
    assert margin(0, pairs=3000, steps=100, sizes=(2, 8, 4)) > 1


@pytest.mark.slow
def test_ten_dead_channels_of_thirty_come_last_in_every_case() -> None:
    assert min(margin(seed, pairs=10_000, steps=300) for seed in range(10)) > 1


def test_counts_and_windows_have_finite_gradients() -> None:
    counts: NDArray[Any] = RANDOM.poisson(0.5, size=(300, 5)).astype(float)
    model = ContrastiveICA(2, lag=2, window=2, scaling="sqrt", encoder="mlp", **QUICK).fit(counts)
    found = attribute(model, counts)
    assert found.values.shape == (2, 5)
    assert np.isfinite(found.values).all()
    assert found.values.min() > 0


def test_images_have_a_map_for_each_component() -> None:
    images = RANDOM.integers(256, size=(64, 1, 16, 16), dtype=np.uint8)
    model = ContrastiveICA(2, **QUICK).fit(images, np.roll(images, 1, axis=3))
    found = attribute(model, images)
    assert found.values.shape == (2, 1, 16, 16)
    with pytest.raises(InputError, match="channels have no ranking in images"):
        found.ranked()
