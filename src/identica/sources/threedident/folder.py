"""A folder of rendered scenes: images, as files or in one array, and the latents of each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica._checks import InputError
from identica.rendering.latents import LATENTS, check_latents, to_unit
from identica.sources.threedident._packing import numbered, packed

__all__ = ["SceneImages", "read_scenes"]

# Raw latents are drawn from [-1, 1]; those that were computed back from the others may miss it by a rounding error.
_ROUNDING = 1e-6


@final
@dataclass(frozen=True)
class SceneImages:
    """Images in a file that is mapped into memory, so that only those that are asked for are read, and their latents.

    Args:
        images: Bytes, [count, height, width, 3].
        latents: In [-1, 1], [count, 10].
    """

    images: NDArray[np.uint8]
    latents: Tensor

    def __post_init__(self) -> None:
        if self.images.ndim != 4 or self.images.shape[3] != 3 or self.images.dtype != np.uint8:
            raise InputError(
                f"images must be bytes [count, height, width, 3], got {self.images.dtype} {list(self.images.shape)}"
            )
        if len(self.images) != len(self.latents) or len(self.images) < 2:
            raise InputError(
                f"images and latents must be as many, two or more, got {len(self.images)} and {len(self.latents)}"
            )

    def __len__(self) -> int:
        return len(self.images)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of one image."""
        return 3, self.images.shape[1], self.images.shape[2]

    def floats(self, rows: Tensor, device: torch.device | str = "cpu") -> Tensor:
        """The images of these numbers, from 0 to 1, [count, 3, height, width], channels side by side in memory."""
        found = torch.from_numpy(self.images[rows.cpu().numpy()])
        return found.to(device).permute(0, 3, 1, 2).float().div_(255)


def read_scenes(folder: Path, prefix: str = "") -> SceneImages:
    """Images and latents of a folder.

    Images are in the array `images.npy`, or in files `images/NNNNNN.png` as the released set has them (or `NNNNNN.png`
    in the folder itself). Files are decoded once into an array in the user's cache folder, and read from there. Latents
    are in `raw_latents.npy`, from -1 to 1; without it, they are computed from `latents.npy`.

    Args:
        folder: Where they are.
        prefix: What the names of arrays and of the folder of images start with, such as `partner_`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} must be a folder of scenes, but there is none")
    latents, name = _latents(folder, prefix)
    whole = folder / f"{prefix}images.npy"
    if whole.is_file():
        images, where = _array(whole, mapped=True), whole
    else:
        where = folder / f"{prefix}images"
        where = where if where.is_dir() or prefix else folder
        paths = numbered(where, len(latents)) if where.is_dir() else []
        if not paths:
            raise InputError(f"{str(folder)!r} must hold {prefix}images.npy or {prefix}images/NNNNNN.png, got neither")
        images = packed(paths, hashlib.sha256(latents.tobytes()).hexdigest())
    if len(images) != len(latents):
        raise InputError(
            f"{str(where)!r} must hold as many images as {name} has rows, {len(latents)}, got {len(images)}"
        )
    try:
        return SceneImages(images, torch.from_numpy(latents.astype(np.float32)))
    except InputError as error:
        raise InputError(f"{str(where)!r}: {error}") from None


def _latents(folder: Path, prefix: str) -> tuple[NDArray[np.float64], str]:
    """Latents from -1 to 1, and the name of their file."""
    raw, scaled = (folder / f"{prefix}{name}.npy" for name in ("raw_latents", "latents"))
    path = raw if raw.is_file() else scaled
    if not path.is_file():
        raise InputError(f"{str(folder)!r} must hold {raw.name} or {scaled.name}, got neither")
    try:
        found = check_latents(path.name, _array(path))
    except InputError as error:
        raise InputError(f"{str(folder)!r}: {error}") from None
    found = found if path == raw else to_unit(found)
    farthest = np.abs(found).max(axis=0, initial=0.0)
    if farthest.max() > 1 + _ROUNDING:
        column = int(farthest.argmax())
        raise InputError(
            f"{path.name} in {str(folder)!r} must hold latents in [-1, 1]"
            f"{'' if path == raw else ' once scaled back'}, got {farthest[column]:.3g} in column {column}, "
            f"{LATENTS[column]}"
        )
    return np.clip(found, -1.0, 1.0), path.name


def _array(path: Path, *, mapped: bool = False) -> NDArray[Any]:
    """An array of a file; mapped into memory, it is read where it is looked at."""
    try:
        found = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise InputError(f"{str(path)!r} cannot be read as .npy: {' '.join(str(error).split())}") from None
    if not isinstance(found, np.ndarray):
        raise InputError(f"{str(path)!r} cannot be read as .npy: it holds several arrays")
    array: NDArray[Any] = np.asarray(found)  # a plain array over the same memory is indexed faster
    return array
