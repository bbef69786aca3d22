"""Image files, decoded once into one array on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica._files import replacing
from identica._folders import cache_folder

__all__ = ["numbered", "packed"]


def numbered(folder: Path, count: int) -> list[Path]:
    """The files 000000.png, 000001.png, … of a folder, `count` of them, in the order of their numbers."""
    paths = sorted((path for path in folder.glob("*.png") if path.stem.isdecimal()), key=lambda path: int(path.stem))
    for place, path in enumerate(paths):
        if int(path.stem) != place:
            raise InputError(f"{str(folder)!r} must hold an image for each latent, but number {place} is missing")
    if paths and len(paths) != count:
        raise InputError(f"{str(folder)!r} must hold as many images as there are latents, {count}, got {len(paths)}")
    return paths


def packed(paths: Sequence[Path], latents: str) -> NDArray[np.uint8]:
    """Images in colour as bytes, [count, height, width, 3], mapped into memory; decoded if they were not before.

    Args:
        paths: Of the images, in order.
        latents: A hash of their latents; with the sizes and times of the files it tells whether anything changed.
    """
    digest = hashlib.sha256(f"{paths[0].parent.resolve()} {latents}".encode())
    for path in paths:
        state = path.stat()
        digest.update(f"{state.st_size} {state.st_mtime_ns} ".encode())
    kept = cache_folder() / "3dident" / f"{digest.hexdigest()[:16]}.npy"
    if not kept.is_file():
        _decode(paths, kept)
    images: NDArray[np.uint8] = np.asarray(np.load(kept, mmap_mode="r", allow_pickle=False))
    return images


def _decode(paths: Sequence[Path], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    first = _pixels(paths[0])
    with replacing(target) as unfinished:
        images = np.lib.format.open_memmap(unfinished, "w+", np.uint8, (len(paths), *first.shape))
        for place, path in enumerate(paths):
            pixels = _pixels(path)
            if pixels.shape != first.shape:
                sizes = [f"{one.shape[1]} × {one.shape[0]}" for one in (first, pixels)]
                raise InputError(
                    f"images in {str(path.parent)!r} must have one size, but {paths[0].name!r} is {sizes[0]} "
                    f"and {path.name!r} is {sizes[1]}"
                )
            images[place] = pixels
        images.flush()


def _pixels(path: Path) -> NDArray[np.uint8]:
    """[height, width, 3]; what lies behind transparent pixels is black, as the background of the scene."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            if image.mode not in {"RGB", "RGBA"}:
                raise InputError(f"image {str(path)!r} must be in colour with 8 bits a channel, got mode {image.mode}")
            if image.mode == "RGB":
                return np.asarray(image)
            black = Image.new("RGBA", image.size, (0, 0, 0, 255))
            return np.asarray(Image.alpha_composite(black, image).convert("RGB"))
    except InputError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise InputError(f"image {str(path)!r} cannot be read: {' '.join(str(error).split())}") from None
