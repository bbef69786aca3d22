"""Arrays of an .npz file, one at a time, and nothing that would have to be unpickled."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray

from identica._checks import InputError
from identica.sources.binary_images import BinaryImages

__all__ = ["read_array", "read_binary_images"]

_IMAGES_AT_ONCE = 4096


def read_array(path: Path, name: str) -> NDArray[Any]:
    """One array of numbers."""
    with _opened(path, name) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def read_binary_images(path: Path, name: str) -> BinaryImages:
    """An array of zeros and ones in bytes, [images, height, width], of which only some images are unpacked at once."""
    with _opened(path, name) as stream:
        count, height, width = _shape(path, name, stream)
        bits = np.empty((count, height * width // 8), np.uint8)
        for start in range(0, count, _IMAGES_AT_ONCE):
            some = min(_IMAGES_AT_ONCE, count - start)
            content = stream.read(some * height * width)
            if len(content) < some * height * width:
                raise InputError(f"{name} in {str(path)!r} must hold {count} images, but the file is cut short")
            pixels = np.frombuffer(content, np.uint8).reshape(some, -1)
            if pixels.max(initial=0) > 1:
                raise InputError(f"{name} in {str(path)!r} must hold zeros and ones, got {pixels.max()}")
            bits[start : start + some] = np.packbits(pixels, axis=1)
    return BinaryImages(torch.from_numpy(bits), (height, width))


def _shape(path: Path, name: str, stream: IO[bytes]) -> tuple[int, int, int]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    if len(shape) != 3 or dtype != np.uint8 or by_columns or (shape[1] * shape[2]) % 8:
        raise InputError(f"{name} in {str(path)!r} must be bytes [images, height, width], got {dtype} {list(shape)}")
    return shape[0], shape[1], shape[2]


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            if f"{name}.npy" not in archive.namelist():
                found = ", ".join(one.removesuffix(".npy") for one in archive.namelist())
                raise InputError(f"{str(path)!r} must have an array {name!r}, got {found or 'none'}")
            with archive.open(f"{name}.npy") as stream:
                yield stream
    except InputError:
        raise
    except (OSError, ValueError, EOFError, SyntaxError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{str(path)!r} cannot be read as .npz: {' '.join(str(error).split())}") from None
