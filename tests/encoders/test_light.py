from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from identica._checks import InputError
from identica.encoders import GlimpseResNet, LightResNet, make_encoder
from identica.encoders._small_resnet import SmallResNet
from identica.experiments import find_rows
from identica.spaces import Real


@pytest.mark.parametrize(
    ("height", "width", "remaining"), [(64, 64, (4, 4)), (16, 16, (4, 4)), (96, 64, (6, 4)), (70, 50, (9, 7))]
)
def test_images_are_halved_until_little_remains(height: int, width: int, remaining: tuple[int, int]) -> None:
    network = LightResNet(3, height, width, 5, generator=torch.Generator().manual_seed(0), first=4).eval()
    images = torch.rand(2, 3, height, width)
    assert network.features[:-1](images).shape[2:] == remaining
    assert network(images).shape == (2, 5)
    assert torch.allclose(network((255 * images).byte()), network((255 * images).byte().float()))


@pytest.mark.parametrize("network", [LightResNet, GlimpseResNet])
def test_weights_come_from_the_generator_alone_and_lie_channels_last(network: type[SmallResNet]) -> None:
    before = torch.get_rng_state()
    one, two, three = (
        network(3, 16, 16, 5, generator=torch.Generator().manual_seed(seed), first=8) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    stem, other = next(one.parameters()), next(three.parameters())
    assert not torch.equal(stem, other)
    assert stem.is_contiguous(memory_format=torch.channels_last)


def test_where_something_is_reaches_the_codes() -> None:
    network = LightResNet(3, 32, 32, 5, generator=torch.Generator().manual_seed(0), first=8).eval()
    images = torch.zeros(2, 3, 32, 32)
    images[0, :, 4:8, 4:8] = 1
    images[1, :, 20:24, 20:24] = 1  # the same square, 16 pixels on: a mean over the image would not tell
    first, second = network(images).detach()
    assert float((first - second).abs().max()) > 0.1 * float(first.abs().max())


def test_the_first_filters_begin_at_what_patches_differ_in(generator: torch.Generator) -> None:
    network = LightResNet(1, 16, 16, 5, generator=generator, first=8)
    stripes = torch.sin(torch.arange(16) * 1.3).expand(1, 1, 16, 16)
    sizes = torch.randn(200, 1, 1, 1, generator=generator)
    images = sizes * stripes + 0.01 * torch.randn(200, 1, 16, 16, generator=generator)
    network.begin_at_patches(images)
    filters = network.features[0].weight.detach().flatten(1)
    torch.testing.assert_close(filters @ filters.T, torch.eye(8), atol=1e-5, rtol=0)
    first = filters[0].view(5, 5)
    assert float((first - first.mean(dim=0)).abs().max()) < 0.05  # constant along the stripes
    settings = replace(find_rows(["t4-01"])[0].run(0).recipe.encoder, network="light")
    made = make_encoder(settings, Real(5), images.expand(-1, 3, -1, -1), generator)
    filters = made.backbone.features[0].weight.detach().flatten(1)  # type: ignore[index, union-attr]
    torch.testing.assert_close(filters @ filters.T, torch.eye(24), atol=1e-4, rtol=0)


@pytest.mark.parametrize("network", [LightResNet, GlimpseResNet])
def test_other_images_are_refused(network: type[SmallResNet], generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="height must be at least 16, got 8"):
        network(3, 8, 64, 5, generator=generator)
    with pytest.raises(InputError, match="width must be at least 16, got 8"):
        network(3, 64, 8, 5, generator=generator)
    with pytest.raises(InputError, match=r"images must have shape \[count, 3, 16, 16\]"):
        network(3, 16, 16, 5, generator=generator)(torch.rand(2, 3, 17, 16))
