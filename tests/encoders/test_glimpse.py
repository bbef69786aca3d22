from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from identica.encoders import Glimpse, GlimpseResNet, make_encoder
from identica.experiments import find_rows
from identica.spaces import Real


@pytest.mark.parametrize(("height", "width"), [(64, 64), (16, 16), (96, 64), (70, 50)])
def test_images_of_any_size_from_sixteen_pixels_on_have_codes(height: int, width: int) -> None:
    network = GlimpseResNet(3, height, width, 5, generator=torch.Generator().manual_seed(0), first=8).eval()
    images = torch.rand(2, 3, height, width)
    assert network(images).shape == (2, 5)
    assert torch.allclose(network((255 * images).byte()), network((255 * images).byte().float()))


def attending(weight: float) -> Glimpse:
    """A glimpse of 8 × 8 pixels that attends to the bright pixels of one channel, the more the larger the weight."""
    glimpse = Glimpse(1, 8, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        glimpse.attention.weight.fill_(weight)
        glimpse.attention.bias.zero_()
    return glimpse


def test_a_glimpse_that_attends_to_all_shows_the_middle_half(generator: torch.Generator) -> None:
    deciding, seen = (torch.rand(2, 1, side, side, generator=generator) for side in (4, 16))
    part, places = attending(0.0)(deciding, seen)
    torch.testing.assert_close(part, seen[:, :, 4:12, 4:12])
    expected = torch.cat([torch.zeros(2, 2), deciding.mean(dim=(2, 3))], dim=1).repeat(1, Glimpse.PLACES)
    torch.testing.assert_close(places, expected)


def test_a_glimpse_is_around_what_it_attends_to() -> None:
    deciding = torch.zeros(1, 1, 8, 8)
    deciding[0, 0, 5, 1] = 1.0
    seen = torch.arange(256.0).view(1, 1, 16, 16)
    part, places = attending(100.0)(deciding, seen)
    torch.testing.assert_close(places[0, :3], torch.tensor([3 / 8 - 1, 11 / 8 - 1, 1.0]))
    # Its middle is at 3 pixels from the left and 11 from above: four on each side, of which one is beyond the image.
    torch.testing.assert_close(part[0, 0, :, 1:], seen[0, 0, 7:15, :7])
    assert not part[0, 0, :, 0].any()


def test_a_glimpse_learns_to_look_at_the_one_bright_spot(generator: torch.Generator) -> None:
    glimpse = attending(0.0)
    optimizer = torch.optim.Adam(glimpse.parameters(), lr=0.1)
    pixels = torch.arange(16.0)
    brightness = []
    for _ in range(100):
        down, across = (pixels - 16 * torch.rand(2, 32, 1, generator=generator)).square().div(-18).exp()
        images = (down[:, :, None] * across[:, None, :])[:, None]
        part, _ = glimpse(nn.functional.avg_pool2d(images, 2), images)
        middle = part[:, 0, 3:5, 3:5].mean()
        optimizer.zero_grad()
        (-middle).backward()
        optimizer.step()
        brightness.append(middle.item())
    assert brightness[0] < 0.5
    assert brightness[-1] > 0.9


def test_the_first_filters_begin_at_patches(generator: torch.Generator) -> None:
    images = torch.rand(200, 3, 16, 16, generator=generator)
    settings = replace(find_rows(["t4-01"])[0].run(0).recipe.encoder, network="glimpse")
    network = make_encoder(settings, Real(5), images, generator).backbone
    assert isinstance(network, GlimpseResNet)
    filters = network.stem[0].weight.detach().flatten(1)  # type: ignore[operator, union-attr]
    torch.testing.assert_close(filters @ filters.T, torch.eye(24), atol=1e-4, rtol=0)
