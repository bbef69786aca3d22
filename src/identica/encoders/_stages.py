"""Sizes of the maps between the convolutions that halve an image."""

from __future__ import annotations

from identica import _checks
from identica._checks import InputError

__all__ = ["FEATURES", "halved"]

_SMALLEST_IMAGE = 16
_SMALLEST_MAP = 4
FEATURES = 256
"""Channels of the convolution that covers what remains."""


def halved(channels: int, height: int, width: int) -> list[tuple[int, int, int]]:
    """Channels, height and width of the image and of each stage that halves it, in order."""
    for name, value in (("channels", channels), ("height", height), ("width", width)):
        _checks.at_least_one(name, value)
    if min(height, width) < _SMALLEST_IMAGE:
        raise InputError(f"height and width must be at least {_SMALLEST_IMAGE}, got {height} × {width}")
    stages = [(channels, height, width)]
    while min(stages[-1][1:]) // 2 >= _SMALLEST_MAP:
        _, rows, columns = stages[-1]
        stages.append((32 if len(stages) <= 2 else 64, rows // 2, columns // 2))
    return stages
