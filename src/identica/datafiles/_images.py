"""A folder of images."""

from __future__ import annotations

import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles._sources import files_in, library, reading

__all__ = ["IMAGES", "read_images"]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")

# Modes of more than 8 bits: to cut them down would lose what the file holds.
_DEEP = ("I", "F")


def read_images(folder: Path) -> tuple[NDArray[np.uint8], list[str]]:
    """All images of a folder as [images, channels, height, width], and their file names in natural order."""
    pillow = library("PIL.Image", "reading images", "pillow")
    paths = files_in(folder, IMAGES)
    if not paths:
        raise InputError(
            f"{str(folder)!r} must hold images ({', '.join(IMAGES)}) or clips (.bvh), got none; "
            "its folders are not read"
        )
    first = _pixels(pillow, paths[0])
    images = np.empty((len(paths), *first.shape), np.uint8)
    for index, path in enumerate(paths):
        pixels = _pixels(pillow, path)
        if pixels.shape[1:] != first.shape[1:]:
            raise InputError(
                f"images in {str(folder)!r} must have one size, but {paths[0].name!r} is {_size(first)} "
                f"and {path.name!r} is {_size(pixels)}"
            )
        if len(pixels) > images.shape[1]:  # the first in colour: the grey ones so far get its channels
            images = np.repeat(images, len(pixels), axis=1)
        images[index] = pixels
    return images, [path.name for path in paths]


def _pixels(pillow: ModuleType, path: Path) -> NDArray[np.uint8]:
    """[1, height, width] of a grey image, [3, height, width] of one in colour."""
    with (
        reading(path, SyntaxError, TypeError, EOFError, struct.error, pillow.DecompressionBombError),
        pillow.open(path) as image,
    ):
        _check_plain(path, image)
        image.load()
        if image.has_transparency_data and image.convert("RGBA").getchannel("A").getextrema()[0] < 255:
            raise InputError(f"image {str(path)!r} must be opaque, got transparent pixels: put it on a background")
        if image.mode in {"1", "L", "LA"}:
            return np.asarray(image.convert("L"))[None]
        pixels = np.moveaxis(np.asarray(image.convert("RGB")), 2, 0)
        grey = image.mode in {"P", "PA"} and (pixels == pixels[:1]).all()
        return pixels[:1] if grey else pixels


def _check_plain(path: Path, image: Any) -> None:
    if image.mode.startswith(_DEEP):
        raise InputError(f"image {str(path)!r} must have 8 bits a channel, got mode {image.mode}")
    frames = getattr(image, "n_frames", 1)
    if frames > 1 and image.format != "MPO":  # the photographs of some telephones, with a preview as second frame
        raise InputError(f"image {str(path)!r} must be a single image, got {frames} frames")


def _size(pixels: NDArray[np.uint8]) -> str:
    return f"{pixels.shape[2]} × {pixels.shape[1]}"
