from __future__ import annotations

import pytest
import torch
from torch import nn

from identica._checks import InputError
from identica.encoders import ConvNet, DeconvNet
from identica.learners import BetaVAE
from identica.recipes import vae_recipe


def shapes(network: nn.Sequential, values: torch.Tensor) -> list[tuple[int, ...]]:
    """What passes between the convolutions."""
    found = []
    for layer in network:
        values = layer(values)
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            found.append(tuple(values.shape[1:]))
    return found


@pytest.mark.parametrize(("channels", "height", "width"), [(1, 16, 16), (1, 64, 64), (3, 31, 17), (3, 28, 40)])
def test_the_decoder_mirrors_the_encoder(channels: int, height: int, width: int, generator: torch.Generator) -> None:
    images = torch.rand(2, channels, height, width, generator=generator)
    there = shapes(ConvNet(channels, height, width, 5, generator=generator), images)
    back = shapes(DeconvNet(5, channels, height, width, generator=generator), torch.zeros(2, 5))
    assert back == [*there[-2::-1], (channels, height, width)]


def test_the_variance_of_codes_is_kept(generator: torch.Generator) -> None:
    network = DeconvNet(64, 1, 64, 64, generator=generator)
    values = torch.randn(200, 64, generator=generator)
    with torch.no_grad():
        inner = network(values)[:, :, 8:-8, 8:-8]
    assert 0.3 < float(inner.square().mean()) < 6


def test_weights_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two = (DeconvNet(2, 1, 16, 16, generator=torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_every_layer_learns(generator: torch.Generator) -> None:
    network = DeconvNet(3, 1, 16, 16, generator=generator)
    network(torch.randn(8, 3, generator=generator)).square().sum().backward()
    assert all(float(value.grad.abs().sum()) > 0 for value in network.parameters())


def test_codes_of_another_number_are_refused(generator: torch.Generator) -> None:
    with pytest.raises(InputError, match=r"codes must have shape \[count, 3\], got \[2, 4\]"):
        DeconvNet(3, 1, 16, 16, generator=generator)(torch.zeros(2, 4))
    with pytest.raises(InputError, match="height and width must be at least 16, got 15 × 16"):
        DeconvNet(3, 1, 15, 16, generator=generator)


def test_what_an_encoder_folds_the_decoder_unfolds(generator: torch.Generator) -> None:
    network = DeconvNet(3, 2, 64, 96, generator=generator, fold=2)
    assert network(torch.randn(4, 3, generator=generator)).shape == (4, 2, 64, 96)
    vae = BetaVAE(3).build(vae_recipe("fast"), torch.rand(20, 1, 64, 64, generator=generator), generator)
    assert isinstance(vae.encoder.backbone, ConvNet)
    assert vae.encoder.backbone.fold == 2
    assert isinstance(vae.decoder[-1], torch.nn.PixelShuffle)
    assert vae.decode(torch.zeros(5, 3)).shape == (5, 1, 64, 64)
