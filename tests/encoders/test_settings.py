from __future__ import annotations

import torch
from torch import Generator

from identica.encoders import MLP, Whitening, make_backbone, make_encoder
from identica.models import Model
from identica.recipes import contrastive_recipe
from identica.spaces import Box

SPREAD = torch.tensor([10.0, 3.0, 1.0, 0.1])


def sample(offset: float = 0.0) -> torch.Tensor:
    return SPREAD * torch.randn(4000, 4, generator=Generator().manual_seed(0)) + offset


def test_directions_beyond_the_components_are_not_stretched_to_the_full() -> None:
    points = sample()
    deviations = Whitening.fit(points, dim=2)(points).std(dim=0)
    assert torch.allclose(deviations, torch.tensor([1.0, 1.0, 1 / 3, 0.1 / 3]), rtol=0.05)


def test_directions_can_be_left_out() -> None:
    points = sample()
    whitened = Whitening.fit(points, keep=2)(points)
    assert torch.linalg.matrix_rank(whitened - whitened.mean(dim=0), rtol=1e-3) == 2


def test_a_mean_far_away_is_subtracted_and_a_near_one_is_not() -> None:
    recipe = contrastive_recipe("fast", Model(Box(4), "laplace"))
    for offset, stays in ((0.05, True), (1000.0, False)):
        encoder = make_encoder(recipe.encoder, Box(4), sample(offset), Generator())
        assert isinstance(encoder.whitening, Whitening)
        assert (encoder.whitening.mean == 0).all() == stays


def test_a_linear_encoder_has_no_hidden_layers() -> None:
    network = make_backbone("linear", [4], 2, generator=Generator())
    assert isinstance(network, MLP)
    assert [tuple(value.shape) for value in network.parameters()] == [(2, 4), (2,)]
