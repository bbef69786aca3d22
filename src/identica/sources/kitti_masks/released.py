"""The file that the authors of KITTI Masks released: a pickle, of which arrays are read and nothing is run."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from identica._checks import InputError
from identica.sources.binary_images import BinaryImages
from identica.sources.kitti_masks._plain_pickle import PlainUnpickler, UnpicklingError, arrays_of
from identica.sources.kitti_masks.sequences import MaskSequences

__all__ = ["read_released"]

_MASKS, _FACTORS = "pedestrians", "pedestrians_latents"
# What reading a broken pickle raises, beside what our own checks do.
_BROKEN = (UnpicklingError, EOFError, OSError, ValueError, TypeError, IndexError, KeyError, AttributeError)


def read_released(path: Path) -> MaskSequences:
    """Sequences of `kitti_peds_v2.pickle`, or of a file like it.

    It must be a dict with `pedestrians`, a list of arrays [frames, height, width] of zeros and ones, and
    `pedestrians_latents`, a list of arrays [frames, 3]. Nothing in it is run: a pickle that names anything but numpy's
    arrays is refused. It does not say which sequences are of one person, so each counts as another one.
    """
    try:
        found = PlainUnpickler(path.read_bytes()).load()
    except (*_BROKEN, MemoryError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{str(path)!r} cannot be read as a pickle of arrays, nothing in it was run: {reason}"
        ) from None
    if not isinstance(found, dict) or not {_MASKS, _FACTORS} <= set(found):
        raise InputError(f"{str(path)!r} must hold a dict with {_MASKS!r} and {_FACTORS!r}, got others")
    masks = _listed(path, _MASKS, found[_MASKS], 3)
    factors = _listed(path, _FACTORS, found[_FACTORS], 2)
    if list(map(len, masks)) != list(map(len, factors)) or any(len(one) < 1 for one in masks):
        raise InputError(f"{_FACTORS} in {str(path)!r} must have a row for each frame of {_MASKS}, at least one each")
    return MaskSequences(
        _packed(path, masks),
        torch.from_numpy(np.concatenate(factors).astype(np.float64)),
        torch.tensor([len(one) for one in masks]),
        torch.arange(len(masks)),
    )


def _listed(path: Path, name: str, values: Any, axes: int) -> list[NDArray[Any]]:
    found = arrays_of(values)
    good = isinstance(found, list) and all(isinstance(one, np.ndarray) and one.ndim == axes for one in found)
    if not good or not found or any(one.shape[1:] != other.shape[1:] for one, other in pairwise(found)):
        raise InputError(f"{name} in {str(path)!r} must be a list of arrays of {axes} axes and of one size, got others")
    return list(found)


def _packed(path: Path, masks: list[NDArray[Any]]) -> BinaryImages:
    height, width = masks[0].shape[1:]
    if (height * width) % 8 or any(np.any((one != 0) & (one != 1)) for one in masks):
        raise InputError(f"{_MASKS} in {str(path)!r} must be zeros and ones, in multiples of 8 pixels, got others")
    bits = [np.packbits(one.astype(bool).reshape(len(one), -1), axis=1) for one in masks]
    return BinaryImages(torch.from_numpy(np.concatenate(bits)), (height, width))
