"""Small sets of masks: annotations of squares that move, and sequences in memory."""

from __future__ import annotations

import numpy as np
import torch

from identica.sources.binary_images import BinaryImages
from identica.sources.kitti_masks import MaskSequences, measure_masks


def line(frame: int, name: int, top: int, left: int, side: int = 12, kind: int = 2, width: int = 256) -> str:
    """A square in a frame that is 64 high and so wide."""
    from pycocotools import mask as library

    mask = np.zeros((64, width), np.uint8, order="F")
    mask[top : top + side, left : left + side] = 1
    return f"{frame} {name} {kind} 64 {width} {library.encode(mask)['counts'].decode()}\n"


def squares(lengths: list[int], tracks: list[int] | None = None) -> MaskSequences:
    """A square of 8 pixels a side that moves by one to the right; of frame t the area is 64, the row tells who."""
    masks = np.zeros((sum(lengths), 64, 64), np.uint8)
    frame = 0
    for number, length in enumerate(lengths):
        for time in range(length):
            masks[frame, number % 50 : number % 50 + 8, time : time + 8] = 1
            frame += 1
    bits = torch.from_numpy(np.packbits(masks.reshape(len(masks), -1), axis=1))
    people = torch.arange(len(lengths)) if tracks is None else torch.tensor(tracks)
    factors = torch.from_numpy(measure_masks(masks))
    return MaskSequences(BinaryImages(bits, (64, 64)), factors, torch.tensor(lengths), people)
