"""Sizes of the maps between the convolutions that halve an image."""

from __future__ import annotations

from identica import _checks
from identica._checks import InputError

__all__ = ["FEATURES", "fold_for", "halved"]

_SMALLEST_IMAGE = 16
_SMALLEST_MAP = 4
_SMALLEST_FOLDED = 32
FEATURES = 256
"""Channels of the convolution that covers what remains."""


def fold_for(height: int, width: int, wanted: int) -> int:
    """So many pixels a side become channels if that leaves a whole image of 32 pixels a side or more; otherwise one."""
    whole = height % wanted == 0 and width % wanted == 0
    return wanted if whole and min(height, width) // wanted >= _SMALLEST_FOLDED else 1


def halved(channels: int, height: int, width: int, fold: int = 1) -> list[tuple[int, int, int]]:
    """Channels, height and width of the image, folded, and of each stage that halves it, in order."""
    for name, value in (("channels", channels), ("height", height), ("width", width)):
        _checks.at_least_one(name, value)
    if height % _checks.at_least_one("fold", fold) or width % fold:
        raise InputError(f"height and width must be multiples of fold = {fold}, got {height} × {width}")
    channels, height, width = channels * fold**2, height // fold, width // fold
    if min(height, width) < _SMALLEST_IMAGE:
        raise InputError(f"height and width must be at least {_SMALLEST_IMAGE}, got {height} × {width}")
    stages = [(channels, height, width)]
    while min(stages[-1][1:]) // 2 >= _SMALLEST_MAP:
        _, rows, columns = stages[-1]
        stages.append((32 if len(stages) <= 2 else 64, rows // 2, columns // 2))
    return stages
