from __future__ import annotations

import pytest
import torch

from identica._checks import InputError
from identica.encoders import ConvNet, make_backbone


def layout(network: ConvNet) -> list[tuple[object, ...]]:
    return [
        (layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride[0], layer.padding[0])
        for layer in network
        if isinstance(layer, torch.nn.Conv2d)
    ]


def test_the_network_for_64_pixels_is_that_of_the_paper(generator: torch.Generator) -> None:
    network = ConvNet(1, 64, 64, 10, generator=generator)
    assert layout(network) == [
        (1, 32, (4, 4), 2, 1),
        (32, 32, (4, 4), 2, 1),
        (32, 64, (4, 4), 2, 1),
        (64, 64, (4, 4), 2, 1),
        (64, 256, (4, 4), 1, 0),
    ]
    assert sum(isinstance(layer, torch.nn.ReLU) for layer in network) == 5
    assert isinstance(network[-1], torch.nn.Linear)


@pytest.mark.parametrize(
    ("channels", "height", "width", "halved", "last"),
    [
        (1, 16, 16, [32, 32], (4, 4)),
        (3, 28, 28, [32, 32], (7, 7)),
        (3, 31, 17, [32, 32], (7, 4)),
        (1, 64, 64, [32, 32, 64, 64], (4, 4)),
        (3, 96, 64, [32, 32, 64, 64], (6, 4)),
        (3, 130, 200, [32, 32, 64, 64, 64], (4, 6)),
    ],
)
def test_other_sizes_are_halved_down_to_what_the_last_convolution_covers(
    channels: int, height: int, width: int, halved: list[int], last: tuple[int, int], generator: torch.Generator
) -> None:
    network = ConvNet(channels, height, width, 5, generator=generator)
    *stages, end = layout(network)
    assert [stage[1] for stage in stages] == halved
    assert end[1:3] == (256, last)
    assert network(torch.rand(2, channels, height, width, generator=generator)).shape == (2, 5)


def test_convolutions_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two, three = (ConvNet(1, 16, 16, 2, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one[0].weight, three[0].weight)


def test_convolutions_start_with_kaiming_weights_and_no_bias(generator: torch.Generator) -> None:
    network = ConvNet(1, 64, 64, 10, generator=generator)
    for layer in network:
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
            assert float(layer.bias.detach().abs().max()) == 0
            fan_in = layer.weight[0].numel()
            assert float(layer.weight.detach().std()) == pytest.approx((2 / fan_in) ** 0.5, rel=0.1)


def test_every_convolution_learns(generator: torch.Generator) -> None:
    network = ConvNet(1, 16, 16, 2, generator=generator)
    network(torch.rand(8, 1, 16, 16, generator=generator)).square().sum().backward()
    assert all(float(value.grad.abs().sum()) > 0 for value in network.parameters())


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((1, 15, 64, 2), "height and width must be at least 16, got 15 × 64"),
        ((1, 64, 8, 2), "at least 16, got 64 × 8"),
        ((0, 64, 64, 2), "channels must be a whole number of at least 1, got 0"),
        ((1, 64, 64, 0), "outputs must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_sizes_are_refused(sizes: tuple[int, int, int, int], message: str, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match=message):
        ConvNet(*sizes, generator=generator)


@pytest.mark.parametrize("shape", [(2, 1, 17, 16), (2, 3, 16, 16), (1, 16, 16)])
def test_images_of_another_shape_are_refused(shape: tuple[int, ...], generator: torch.Generator) -> None:
    with pytest.raises(InputError, match=r"images must have shape \[count, 1, 16, 16\], got \["):
        ConvNet(1, 16, 16, 2, generator=generator)(torch.zeros(shape))


def test_channels_lie_side_by_side_and_change_nothing_else(generator: torch.Generator) -> None:
    network = ConvNet(3, 32, 32, 4, generator=generator)
    assert network[0].weight.is_contiguous(memory_format=torch.channels_last)
    images = torch.rand(5, 3, 32, 32, generator=generator)
    values = images
    for layer in network:
        if isinstance(layer, torch.nn.Conv2d):
            weight = layer.weight.contiguous(memory_format=torch.contiguous_format)
            values = torch.nn.functional.conv2d(values, weight, layer.bias, layer.stride, layer.padding)
        else:
            values = layer(values)
    assert torch.allclose(network(images), values, atol=1e-5)


def test_bytes_are_taken_as_numbers(generator: torch.Generator) -> None:
    network = ConvNet(1, 16, 16, 2, generator=generator)
    images = torch.randint(2, (3, 1, 16, 16), generator=generator)
    assert torch.equal(network(images.to(torch.uint8)), network(images.float()))


def test_folded_pixels_are_channels_and_nothing_is_lost(generator: torch.Generator) -> None:
    images = torch.rand(3, 2, 64, 96, generator=generator)
    folded = ConvNet(2, 64, 96, 5, generator=torch.Generator().manual_seed(1), fold=2)
    plain = ConvNet(8, 32, 48, 5, generator=torch.Generator().manual_seed(1))
    assert layout(folded) == layout(plain)
    assert torch.allclose(folded(images), plain(torch.nn.functional.pixel_unshuffle(images, 2)), atol=1e-5)
    with pytest.raises(InputError, match="height and width must be multiples of fold = 2, got 65 × 64"):
        ConvNet(1, 65, 64, 5, generator=generator, fold=2)


@pytest.mark.parametrize(("shape", "fold"), [((1, 64, 64), 2), ((1, 48, 64), 1), ((3, 65, 128), 1), ((3, 66, 128), 2)])
def test_only_large_images_are_folded(shape: tuple[int, ...], fold: int, generator: torch.Generator) -> None:
    network = make_backbone("conv", shape, 3, generator=generator, fold=2)
    assert isinstance(network, ConvNet)
    assert network.fold == fold
    assert network(torch.rand(2, *shape, generator=generator)).shape == (2, 3)
