from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from identica._checks import InputError
from identica.encoders import MLP, ConvNet, GlimpseResNet, LightResNet, ResNet18, make_backbone


@pytest.mark.parametrize(
    ("kind", "shape", "expected"),
    [
        ("mlp", (12,), MLP),
        ("conv", (1, 28, 28), ConvNet),
        ("light", (3, 32, 48), LightResNet),
        ("glimpse", (3, 32, 48), GlimpseResNet),
        ("resnet", (3, 32, 48), ResNet18),
    ],
)
def test_each_kind_maps_observations_to_codes(
    kind: str, shape: tuple[int, ...], expected: type, generator: torch.Generator
) -> None:
    network = make_backbone(kind, torch.Size(shape), 4, generator=generator)
    assert isinstance(network, expected)
    assert network(torch.rand(2, *shape, generator=generator)).shape == (2, 4)


def test_widths_and_slope_are_those_of_the_mlp(generator: torch.Generator) -> None:
    network = make_backbone("mlp", (12,), 4, generator=generator, widths=(30, 20), slope=0.1)
    assert [layer.out_features for layer in network if isinstance(layer, torch.nn.Linear)] == [30, 20, 4]
    assert {layer.negative_slope for layer in network if isinstance(layer, torch.nn.LeakyReLU)} == {0.1}
    assert float(network[0].bias.detach().abs().max()) == 0


@pytest.mark.parametrize(
    ("kind", "shape", "settings", "message"),
    [
        (
            "cnn",
            (1, 64, 64),
            {},
            "unknown encoder 'cnn': did you mean 'conv'? allowed: linear, mlp, conv, light",
        ),
        (
            "conv",
            (12,),
            {},
            "encoder 'conv' needs images of shape [channels, height, width], got observations of shape [12]: use 'mlp'",
        ),
        (
            "resnet",
            (64, 64),
            {},
            "encoder 'resnet' needs images of shape [channels, height, width], got observations of shape [64, 64]: "
            "allowed are [features] and [channels, height, width]",
        ),
        (
            "mlp",
            (1, 64, 64),
            {},
            "encoder 'mlp' needs observations of shape [features], got observations of shape [1, 64, 64]: "
            "use 'conv', 'light', 'glimpse' or 'resnet'",
        ),
        (
            "conv",
            (1, 64, 8),
            {},
            "encoder 'conv' for observations of shape [1, 64, 8]: height and width must be at least 16, got 64 × 8",
        ),
        ("resnet", (3, 0, 32), {}, "encoder 'resnet' for observations of shape [3, 0, 32]: height must be"),
        ("mlp", (0,), {}, "encoder 'mlp' for observations of shape [0]: features must be"),
        ("mlp", (5,), {"widths": (8, 0)}, "a width must be a whole number of at least 1, got 0"),
        ("mlp", (5,), {"outputs": 0}, "outputs must be a whole number of at least 1, got 0"),
    ],
)
def test_what_does_not_fit_is_refused(
    kind: str, shape: tuple[int, ...], settings: dict[str, Any], message: str, generator: torch.Generator
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make_backbone(kind, shape, **({"outputs": 4, "generator": generator} | settings))
