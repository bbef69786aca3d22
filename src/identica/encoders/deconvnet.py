"""The decoder for small images: the mirror of the convolutional network."""

from __future__ import annotations

from itertools import pairwise
from typing import final

import torch
from torch import Generator, Tensor, nn

from identica import _checks
from identica.encoders._layers import linear, transposed_convolution
from identica.encoders._stages import FEATURES, halved

__all__ = ["DeconvNet"]


@final
class DeconvNet(nn.Sequential):
    """A linear layer, a transposed convolution, and others that double the image; ReLUs between them.

    Each layer gives what the layer of `ConvNet` in its place takes, for images of any size that it takes.

    Args:
        inputs: Number of codes.
        channels: Number of channels of an image.
        height: Its height in pixels, 16 or more.
        width: Its width in pixels, 16 or more.
        generator: Source of the initial weights.
        fold: As `ConvNet` has it.
    """

    def __init__(
        self, inputs: int, channels: int, height: int, width: int, *, generator: Generator, fold: int = 1
    ) -> None:
        _checks.at_least_one("inputs", inputs)
        stages = halved(channels, height, width, fold)[::-1]
        fan_out, rows, columns = stages[0]
        layers: list[nn.Module] = [
            linear(inputs, FEATURES, 0.0, "kaiming", generator),
            nn.ReLU(inplace=True),
            nn.Unflatten(1, (FEATURES, 1, 1)),
            transposed_convolution(FEATURES, fan_out, (rows, columns), taps=1, generator=generator),
        ]
        for (fan_in, *small), (fan_out, *large) in pairwise(stages):
            odd = (large[0] - 2 * small[0], large[1] - 2 * small[1])  # what was cut off when halving
            layers += [
                nn.ReLU(inplace=True),
                transposed_convolution(
                    fan_in, fan_out, 4, stride=2, padding=1, output_padding=odd, taps=4, generator=generator
                ),
            ]
        if fold > 1:
            layers.append(nn.PixelShuffle(fold))
        super().__init__(*layers)
        self.inputs = inputs
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # as in `ConvNet`

    def forward(self, codes: Tensor) -> Tensor:
        """Images before they are squeezed into a range, [count, channels, height, width]."""
        _checks.columns("codes", codes, self.inputs)
        images: Tensor = super().forward(codes)  # type: ignore[no-untyped-call]
        return images
