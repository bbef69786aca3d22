"""Where pictures go: files or one array, of which each says what it still lacks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from identica._files import replacing

__all__ = ["CHUNK", "ArrayStore", "FileStore", "PictureStore"]

CHUNK = 32
"""Pictures that are rendered and stored at a time."""

_EFFORT = 4  # of compression: half the time of the usual 6, and 4 % larger files


class PictureStore(ABC):
    """Room for pictures of one set, in chunks of `CHUNK`. Stores are sent to processes, so they hold plain data only.

    Args:
        folder: Of the set.
        name: Of the file or folder of pictures, without an ending.
        count: Of pictures.
        size: Pixels of a side.
    """

    def __init__(self, folder: Path, name: str, count: int, size: int) -> None:
        self.folder, self.name, self.count, self.size = folder, name, count, size

    def rows(self, chunk: int) -> range:
        """The pictures of a chunk."""
        return range(chunk * CHUNK, min(self.count, (chunk + 1) * CHUNK))

    @property
    def chunks(self) -> range:
        """All chunks."""
        return range(-(-self.count // CHUNK))

    @abstractmethod
    def prepare(self) -> None:
        """Make room, or find what is there."""

    @abstractmethod
    def missing(self) -> list[int]:
        """Chunks that are not stored yet."""

    @abstractmethod
    def write(self, chunk: int, pictures: NDArray[np.uint8]) -> None:
        """Store the pictures of a chunk, [pictures, size, size, 3]."""

    @abstractmethod
    def finish(self) -> None:
        """Give the whole its name, once nothing is missing."""


@final
class FileStore(PictureStore):
    """A folder of `NNNNNN.png`, as 3DIdent was released."""

    def prepare(self) -> None:
        self._place.mkdir(exist_ok=True)

    def missing(self) -> list[int]:
        there = {path.name for path in self._place.glob("[0-9]*.png")}
        return [chunk for chunk in self.chunks if any(f"{row:06d}.png" not in there for row in self.rows(chunk))]

    def write(self, chunk: int, pictures: NDArray[np.uint8]) -> None:
        from PIL import Image  # only to write files

        for row, picture in zip(self.rows(chunk), pictures, strict=True):
            with replacing(self._place / f"{row:06d}.png") as unfinished:
                Image.fromarray(picture).save(unfinished, format="PNG", compress_level=_EFFORT)

    def finish(self) -> None:
        """Nothing is left to do: each file got its name when it was whole."""
        for left in self._place.glob(".*.png"):  # by a process that was killed
            left.unlink()

    @property
    def _place(self) -> Path:
        return self.folder / self.name


@final
class ArrayStore(PictureStore):
    """One `.npy` file of bytes, [count, size, size, 3]. Until it is whole it has another name, and a list beside it."""

    def prepare(self) -> None:
        if self._whole.exists() or self._list.exists():
            return
        with replacing(self._unfinished) as new:
            shape = (self.count, self.size, self.size, 3)
            np.lib.format.open_memmap(new, mode="w+", dtype=np.uint8, shape=shape).flush()
        with replacing(self._list) as new:
            new.write_bytes(bytes(len(self.chunks)))

    def missing(self) -> list[int]:
        if self._whole.exists():
            return []
        return [chunk for chunk, done in enumerate(self._list.read_bytes()) if not done]

    def write(self, chunk: int, pictures: NDArray[np.uint8]) -> None:
        array = np.lib.format.open_memmap(self._unfinished, mode="r+")
        rows = self.rows(chunk)
        array[rows.start : rows.stop] = pictures
        array.flush()
        with self._list.open("r+b") as done:  # after the pictures: what the list has is there
            done.seek(chunk)
            done.write(b"\x01")

    def finish(self) -> None:
        if not self._whole.exists():
            self._unfinished.replace(self._whole)
        self._list.unlink(missing_ok=True)

    @property
    def _whole(self) -> Path:
        return self.folder / f"{self.name}.npy"

    @property
    def _unfinished(self) -> Path:
        return self.folder / f"{self.name}.npy.unfinished"

    @property
    def _list(self) -> Path:
        return self.folder / f"{self.name}.npy.done"
