"""Layers whose first weights come from an explicit generator."""

from __future__ import annotations

import math
from typing import Literal, final

import torch
from torch import Generator, Tensor, nn

from identica._ranks import mean_over_ranks, ranks

__all__ = ["BatchNorm", "Initialisation", "convolution", "linear", "transposed_convolution"]

Initialisation = Literal["kaiming", "torch"]
"""How weights start: `kaiming` (normal, matched to the slope, zero biases) or `torch` (torch's default)."""


@final
class BatchNorm(nn.BatchNorm2d):
    """Batch norm of images, by moments of the whole batch if several processes share it."""

    def forward(self, maps: Tensor) -> Tensor:
        """Normalised maps."""
        if not self.training or ranks().size == 1:
            return super().forward(maps)
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.momentum is not None
        over_pixels = (1, -1, 1, 1)
        mean = mean_over_ranks(maps.mean(dim=(0, 2, 3)))
        centred = maps - mean.view(over_pixels)
        variance = mean_over_ranks(centred.square().mean(dim=(0, 2, 3)))
        with torch.no_grad():
            count = ranks().size * maps.numel() // maps.shape[1]
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
            assert self.num_batches_tracked is not None
            self.num_batches_tracked.add_(1)
        scale = self.weight * (variance + self.eps).rsqrt()
        return centred * scale.view(over_pixels) + self.bias.view(over_pixels)


def linear(fan_in: int, fan_out: int, slope: float, initialisation: Initialisation, generator: Generator) -> nn.Linear:
    """A linear layer: `kaiming` (normal, matched to the slope, zero biases) or `torch` (the default of `nn.Linear`)."""
    layer = nn.utils.skip_init(nn.Linear, fan_in, fan_out, device=generator.device)  # type: ignore[no-untyped-call]
    assert isinstance(layer, nn.Linear)
    if initialisation == "kaiming":
        nn.init.kaiming_normal_(layer.weight, a=slope, generator=generator)
        nn.init.zeros_(layer.bias)
    else:
        bound = 1 / math.sqrt(fan_in)
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
    return layer


def convolution(
    inputs: int,
    outputs: int,
    kernel: int | tuple[int, int],
    *,
    generator: Generator,
    stride: int = 1,
    padding: int = 0,
    bias: bool = True,
    mode: Literal["fan_in", "fan_out"] = "fan_in",
) -> nn.Conv2d:
    """A convolution before a ReLU: Kaiming's normal weights, which keep the variance of `mode`; zero biases."""
    layer = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.Conv2d, inputs, outputs, kernel, stride=stride, padding=padding, bias=bias, device=generator.device
    )
    assert isinstance(layer, nn.Conv2d)
    nn.init.kaiming_normal_(layer.weight, mode=mode, nonlinearity="relu", generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def transposed_convolution(
    inputs: int,
    outputs: int,
    kernel: int | tuple[int, int],
    *,
    taps: int,
    generator: Generator,
    stride: int = 1,
    padding: int = 0,
    output_padding: tuple[int, int] = (0, 0),
) -> nn.ConvTranspose2d:
    """A transposed convolution behind a ReLU: normal weights that keep the variance, zero biases.

    `taps` is how many entries of the kernel reach one pixel.
    """
    layer = nn.utils.skip_init(  # type: ignore[no-untyped-call]
        nn.ConvTranspose2d,
        inputs,
        outputs,
        kernel,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        device=generator.device,
    )
    assert isinstance(layer, nn.ConvTranspose2d)
    nn.init.normal_(layer.weight, std=math.sqrt(2 / (inputs * taps)), generator=generator)
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer
