"""The residual network for large images."""

from __future__ import annotations

from typing import final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica.encoders._layers import BatchNorm, convolution, linear

__all__ = ["ResNet18", "ResidualBlock", "memory_format_of"]

_SLOPE = 0.01
# Of strided 1×1 convolutions that oneDNN computes; with fewer, side by side, their gradients write past their end.
_FEWEST_SIDE_BY_SIDE = 8


def memory_format_of(channels: int) -> torch.memory_format:
    """How maps of residual blocks lie in memory: channels side by side, which is faster, unless they are too few."""
    return torch.channels_last if channels >= _FEWEST_SIDE_BY_SIDE else torch.contiguous_format


@final
class ResNet18(nn.Module):
    """W_2 φ(W_1 h(x)), with h the pooled features of a ResNet-18 and φ a leaky ReLU between 10N and N outputs.

    h is a 7×7 convolution of stride 2, a max pooling, four stages of two residual blocks, and the average over what
    remains of the image. Each stage after the first halves the image and doubles the channels. Batch norm follows each
    convolution. Weights start as usual: Kaiming's for convolutions, the default of `nn.Linear` for W_1 and W_2.

    Args:
        channels: Number of channels of an image.
        outputs: Number N of codes.
        generator: Source of the initial weights.
        width: Channels of the first stage.
    """

    def __init__(self, channels: int, outputs: int, *, generator: Generator, width: int = 64) -> None:
        super().__init__()
        for name, value in (("channels", channels), ("outputs", outputs), ("width", width)):
            _checks.at_least_one(name, value)
        layers: list[nn.Module] = [
            *_normed(channels, width, 7, 2, generator),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, padding=1),
        ]
        fan_in = width
        for stage in range(4):
            fan_out = width * 2**stage
            layers += [
                ResidualBlock(fan_in, fan_out, 1 if stage == 0 else 2, generator),
                ResidualBlock(fan_out, fan_out, 1, generator),
            ]
            fan_in = fan_out
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projection = nn.Sequential(
            linear(fan_in, 10 * outputs, _SLOPE, "torch", generator),
            nn.LeakyReLU(_SLOPE, inplace=True),
            linear(10 * outputs, outputs, _SLOPE, "torch", generator),
        )
        self.memory_format = memory_format_of(width)
        self.to(memory_format=self.memory_format)  # type: ignore[call-overload]

    def forward(self, images: Tensor) -> Tensor:
        """Unconstrained codes of `images`, [count, channels, height, width], floating point or bytes."""
        values = images if images.is_floating_point() else images.float()
        codes: Tensor = self.projection(self.features(values.contiguous(memory_format=self.memory_format)))
        return codes


@final
class ResidualBlock(nn.Module):
    """x ↦ relu(s(x) + r(x)), with r two convolutions and s the identity, or a projection where the shape changes.

    Args:
        fan_in: Channels of x.
        fan_out: Channels of the result.
        stride: Of the first convolution.
        generator: Source of the initial weights.
    """

    def __init__(self, fan_in: int, fan_out: int, stride: int, generator: Generator) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_normed(fan_in, fan_out, 3, stride, generator),
            nn.ReLU(inplace=True),
            *_normed(fan_out, fan_out, 3, 1, generator),
        )
        same = stride == 1 and fan_in == fan_out
        self.shortcut = nn.Identity() if same else nn.Sequential(*_normed(fan_in, fan_out, 1, stride, generator))

    def forward(self, maps: Tensor) -> Tensor:
        """The maps that come out."""
        return nn.functional.relu(self.shortcut(maps) + self.residual(maps), inplace=True)


def _normed(fan_in: int, fan_out: int, kernel: int, stride: int, generator: Generator) -> tuple[nn.Module, nn.Module]:
    """A convolution that keeps the size, but for its stride, and the batch norm that takes the place of its bias."""
    layer = convolution(
        fan_in,
        fan_out,
        kernel,
        generator=generator,
        stride=stride,
        padding=kernel // 2,
        bias=False,
        mode="fan_out",
    )
    return layer, BatchNorm(fan_out, device=generator.device)
