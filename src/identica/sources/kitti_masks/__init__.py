"""KITTI Masks: silhouettes of pedestrians in real videos, whose partners are the same person some frames later."""

from identica.sources.kitti_masks.generating import FRAME, LEAST_PIXELS, WINDOWS, cut_masks, make_masks
from identica.sources.kitti_masks.pairs import MaskPairs
from identica.sources.kitti_masks.released import read_released
from identica.sources.kitti_masks.sequences import MaskSequences, measure_masks, read_masks, write_masks
from identica.sources.kitti_masks.settings import KittiData, KittiMasks

__all__ = [
    "FRAME",
    "LEAST_PIXELS",
    "WINDOWS",
    "KittiData",
    "KittiMasks",
    "MaskPairs",
    "MaskSequences",
    "cut_masks",
    "make_masks",
    "measure_masks",
    "read_masks",
    "read_released",
    "write_masks",
]
