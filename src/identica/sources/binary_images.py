"""Black and white images, eight pixels a byte."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["BinaryImages"]


class BinaryImages:
    """Images of zeros and ones that take an eighth of the memory of bytes, and become numbers a batch at a time.

    Args:
        bits: Pixels of each image, row by row, the highest bit first as `numpy.packbits` writes them, [count, bytes].
        size: Height and width; their product is a multiple of 8.
    """

    def __init__(self, bits: Tensor, size: tuple[int, int]) -> None:
        self.bits, self.size = bits, size
        numbers = torch.arange(256, device=bits.device)[:, None]
        self.pixels = ((numbers >> torch.arange(7, -1, -1, device=bits.device)) & 1).float()

    def __len__(self) -> int:
        return len(self.bits)

    def floats(self, rows: Tensor) -> Tensor:
        """The images of these numbers, [count, 1, height, width]."""
        found = self.bits.index_select(0, rows.to(self.bits.device))
        return self.pixels.index_select(0, found.flatten().int()).view(len(found), 1, *self.size)
