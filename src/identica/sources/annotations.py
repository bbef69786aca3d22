"""Masks of objects in videos, as the annotations of KITTI-MOTS and MOTSChallenge have them: lines of run lengths."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica._folders import data_folder
from identica._install import how_to_install

__all__ = ["CAR", "PEDESTRIAN", "Annotated", "annotation_digest", "annotation_files", "read_annotations"]

CAR = 1
"""The class of cars."""
PEDESTRIAN = 2
"""The class of pedestrians; 10 marks what annotators left open."""

_MOST_PIXELS = 1 << 26  # of a frame
_FOLDERS = ("kitti_mots", "mots20")


class Annotated(NamedTuple):
    """An object in a frame of a video.

    Attributes:
        frame: The number of the frame.
        name: Of the object, the same in all frames.
        kind: Its class.
        height: Of the frame, in pixels.
        width: Likewise.
        runs: Its mask, in run lengths as COCO packs them.
    """

    frame: int
    name: int
    kind: int
    height: int
    width: int
    runs: bytes

    def mask(self) -> NDArray[np.uint8]:
        """Zeros and ones, [height, width]."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # pycocotools speaks to numpy in the way of before 2.0
            try:
                found: NDArray[np.uint8] = _library().decode(self._encoded)
            except (ValueError, TypeError) as error:
                raise InputError(f"frame {self.frame} must have run lengths of a mask: {error}") from None
        return found

    def corner(self) -> tuple[int, int, int, int]:
        """Top and left of the smallest rectangle around the mask, and its height and width."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            left, top, across, down = map(int, _library().toBbox(self._encoded))
        return top, left, down, across

    @property
    def _encoded(self) -> dict[str, Any]:
        return {"size": [self.height, self.width], "counts": self.runs}


def annotation_files(folder: Path | None = None) -> list[Path]:
    """The annotations in `kitti_mots` and `mots20`, one file for each video.

    Args:
        folder: Where these two are; the folder of data sets if not given.
    """
    root = data_folder() if folder is None else folder
    found = [path for name in _FOLDERS for path in sorted((root / name).glob("*.txt"))]
    if not found:
        wanted = " or ".join(repr(str(root / name)) for name in _FOLDERS)
        raise InputError(f"annotations of masks are needed, .txt files in {wanted}, and there are none")
    return found


def annotation_digest(files: Sequence[Path], way: str) -> str:
    """A name for what was computed in some way from these files, other if either changes."""
    digest = hashlib.sha256(way.encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def read_annotations(path: Path, kinds: Container[int]) -> Iterator[Annotated]:
    """Objects of these classes in a video, line by line: frame, name, class, height, width and run lengths."""
    _library()
    for number, line in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), start=1):
        try:
            frame, name, kind, height, width = map(int, line.split()[:5])
            runs = line.split()[5].encode("ascii")
        except (ValueError, IndexError):
            raise InputError(
                f"line {number} of {str(path)!r} must be 'frame id class height width rle', got {line[:40]!r}"
            ) from None
        if kind in kinds:
            if not 0 < height * width <= _MOST_PIXELS or height < 0:
                raise InputError(f"line {number} of {str(path)!r} must be of a frame, got {height} × {width} pixels")
            yield Annotated(frame, name, kind, height, width, runs)


def _library() -> Any:
    try:
        from pycocotools import mask
    except ImportError:
        raise InputError(f"reading annotations of masks needs pycocotools: {how_to_install('images')}") from None
    return mask
