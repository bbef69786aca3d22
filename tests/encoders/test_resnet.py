from __future__ import annotations

import pytest
import torch

from identica._checks import InputError
from identica.encoders import ResNet18


def small(seed: int = 0, channels: int = 3) -> ResNet18:
    return ResNet18(channels, 5, generator=torch.Generator().manual_seed(seed), width=4)


def count(module: torch.nn.Module) -> int:
    return sum(value.numel() for value in module.parameters())


def test_the_features_have_the_parameters_of_a_resnet_18_without_its_classes(generator: torch.Generator) -> None:
    network = ResNet18(3, 10, generator=generator)
    assert count(network.features) == 11_689_512 - (512 * 1000 + 1000) == 11_176_512
    assert count(network.projection) == (512 * 100 + 100) + (100 * 10 + 10)
    with_classes = torch.nn.Sequential(network.features, torch.nn.Linear(512, 1000))
    assert count(with_classes) == 11_689_512
    assert network.features[0].weight.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(("height", "width", "remaining"), [(224, 224, (7, 7)), (96, 64, (3, 2)), (28, 28, (1, 1))])
def test_images_are_halved_five_times(height: int, width: int, remaining: tuple[int, int]) -> None:
    network = small().eval()
    images = torch.rand(1, 3, height, width)
    assert network.features[:-2](images).shape == (1, 32, *remaining)
    assert network.features(images).shape == (1, 32)
    assert network(images).shape == (1, 5)


def test_residual_weights_come_from_the_generator_alone() -> None:
    before = torch.get_rng_state()
    one, two, three = small(1), small(1), small(2)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one.features[0].weight, three.features[0].weight)


def test_residual_convolutions_start_with_kaiming_weights_and_norms_with_one(generator: torch.Generator) -> None:
    for layer in ResNet18(3, 5, generator=generator, width=16).modules():
        if isinstance(layer, torch.nn.Conv2d):
            fan_out = layer.weight[:, 0].numel()
            assert layer.bias is None
            assert float(layer.weight.detach().std()) == pytest.approx((2 / fan_out) ** 0.5, rel=0.1)
        elif isinstance(layer, torch.nn.BatchNorm2d):
            assert set(layer.weight.tolist()) == {1.0}
            assert set(layer.bias.tolist()) == {0.0}


def test_blocks_add_to_what_they_are_given() -> None:
    block = small().eval().features[5]
    maps = torch.rand(2, 4, 6, 6)
    torch.nn.init.zeros_(block.residual[-1].weight)
    assert torch.equal(block(maps), maps)


def test_running_moments_are_learnt_in_training_and_used_in_evaluation(generator: torch.Generator) -> None:
    network = small(channels=1)
    images = 3 + torch.rand(8, 1, 32, 32, generator=generator)
    norm = network.features[1]
    network(images).square().sum().backward()
    assert all(float(value.grad.abs().sum()) > 0 for value in network.parameters())
    assert float(norm.running_mean.abs().sum()) > 0
    learnt = norm.running_mean.clone()
    together = network.eval()(images)
    assert torch.allclose(network(images[:1]), together[:1], atol=1e-5)
    assert torch.equal(norm.running_mean, learnt)


@pytest.mark.parametrize(("channels", "outputs", "width"), [(0, 5, 4), (3, 0, 4), (3, 5, 0)])
def test_sizes_below_one_are_refused(channels: int, outputs: int, width: int, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="must be a whole number of at least 1, got 0"):
        ResNet18(channels, outputs, generator=generator, width=width)
