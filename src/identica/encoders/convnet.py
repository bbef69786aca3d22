"""The convolutional network for small images."""

from __future__ import annotations

from typing import final

from torch import Generator, Tensor, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders._layers import convolution, linear

__all__ = ["ConvNet"]

_SMALLEST_IMAGE = 16
_SMALLEST_MAP = 4
_FEATURES = 256


@final
class ConvNet(nn.Sequential):
    """Convolutions that halve the image, one that covers what remains, and a linear layer; ReLUs between them.

    At 64×64 pixels: 32, 32, 64, 64 channels (4×4, stride 2, padding 1), then 256 (4×4, no padding). Other sizes have as
    many halving stages as leave 4 pixels or more on the smaller side, with 64 channels from the third on.

    Args:
        channels: Number of channels of an image.
        height: Its height in pixels, 16 or more.
        width: Its width in pixels, 16 or more.
        outputs: Number of codes.
        generator: Source of the initial weights.
    """

    def __init__(self, channels: int, height: int, width: int, outputs: int, *, generator: Generator) -> None:
        for name, value in (("channels", channels), ("height", height), ("width", width), ("outputs", outputs)):
            _checks.at_least_one(name, value)
        if min(height, width) < _SMALLEST_IMAGE:
            raise InputError(f"height and width must be at least {_SMALLEST_IMAGE}, got {height} × {width}")
        layers: list[nn.Module] = []
        fan_in, rows, columns = channels, height, width
        while min(rows, columns) // 2 >= _SMALLEST_MAP:
            fan_out = 32 if len(layers) < 4 else 64
            layers += [convolution(fan_in, fan_out, 4, stride=2, padding=1, generator=generator), nn.ReLU(inplace=True)]
            fan_in, rows, columns = fan_out, rows // 2, columns // 2
        layers += [convolution(fan_in, _FEATURES, (rows, columns), generator=generator), nn.ReLU(inplace=True)]
        layers += [nn.Flatten(), linear(_FEATURES, outputs, 0.0, "kaiming", generator)]
        super().__init__(*layers)
        self.shape = (channels, height, width)

    def forward(self, images: Tensor) -> Tensor:
        """Unconstrained codes of `images`, [count, channels, height, width]."""
        # Without this, images a few pixels larger would pass, and lose their border.
        if images.shape[1:] != self.shape:
            expected = ", ".join(map(str, self.shape))
            raise InputError(f"images must have shape [count, {expected}], got {list(images.shape)}")
        codes: Tensor = super().forward(images)  # type: ignore[no-untyped-call]
        return codes
