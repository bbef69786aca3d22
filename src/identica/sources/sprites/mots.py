"""Transitions of cars and pedestrians, measured from the annotations of KITTI-MOTS and MOTSChallenge."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica._files import replacing
from identica._folders import cache_folder, data_folder
from identica.sources.sprites.drawing import FRAME
from identica.sources.sprites.transitions import Transitions

__all__ = ["annotation_files", "measure_transitions", "mots_transitions"]

_FOLDERS = ("kitti_mots", "mots20")
_CLASSES = (1, 2)  # cars and pedestrians; 10 marks what annotators left open
_MOST_PIXELS = 1 << 26  # of a frame
_MEASURE = "1"  # of this way to measure: part of the name of what is kept


class _Seen(NamedTuple):
    """An object in a frame, in units of 64 to the height of the frame."""

    x: float
    y: float
    area: float
    width: float  # of the frame


def annotation_files() -> list[Path]:
    """The annotations in the folder of data sets, one file for each video."""
    found = [path for folder in _FOLDERS for path in sorted((data_folder() / folder).glob("*.txt"))]
    if not found:
        wanted = " or ".join(repr(str(data_folder() / folder)) for folder in _FOLDERS)
        raise InputError(f"transitions='mots' needs annotations, .txt files in {wanted}, and there are none")
    return found


def mots_transitions() -> Transitions:
    """Transitions of all annotations; they are measured once and kept in the user's cache folder."""
    files = annotation_files()
    digest = hashlib.sha256(_MEASURE.encode())
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    kept = cache_folder() / "transitions" / f"mots-{digest.hexdigest()[:16]}.npy"
    if kept.is_file():
        return Transitions(np.load(kept, allow_pickle=False))
    found = measure_transitions(files)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as unfinished, unfinished.open("wb") as stream:
        np.save(stream, found.measured, allow_pickle=False)
    return found


def measure_transitions(files: list[Path]) -> Transitions:
    """Centre of mass and area of every car and pedestrian that is in two consecutive frames.

    Frames keep their proportions and are scaled to a height of 64. Of a wide frame each object is seen through one of
    the fewest evenly spaced windows of 64 × 64 that cover it: that whose middle is nearest in the first frame. Objects
    that leave their window before the next frame are left out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pycocotools speaks to numpy in the way of before 2.0
        moves = [move for path in files for move in _moves(_read(path))]
    if not moves:
        raise InputError(f"annotations must show an object in consecutive frames, got none in {len(files)} files")
    return Transitions(np.array(moves, dtype=np.float64))


def _moves(seen: dict[tuple[int, int], _Seen]) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    for (frame, name), first in seen.items():
        second = seen.get((frame + 1, name))
        if second is None:
            continue
        windows = max(1, math.ceil(first.width / FRAME))
        starts = np.linspace(0, first.width - FRAME, windows)
        start = float(starts[np.abs(starts + FRAME / 2 - first.x).argmin()])
        places = [one.x - start for one in (first, second)]
        if all(0 <= place <= FRAME for place in places):
            yield (places[0], first.y, first.area), (places[1], second.y, second.area)


def _read(path: Path) -> dict[tuple[int, int], _Seen]:
    """Objects of a video by frame and name: lines of frame, name, class, height, width and run lengths."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), start=1):
        try:
            frame, name, kind, height, width = map(int, line.split()[:5])
            runs = line.split()[5]
        except (ValueError, IndexError):
            raise InputError(
                f"line {number} of {str(path)!r} must be 'frame id class height width rle', got {line[:40]!r}"
            ) from None
        if kind in _CLASSES:
            if not 0 < height * width <= _MOST_PIXELS or height < 0:
                raise InputError(f"line {number} of {str(path)!r} must be of a frame, got {height} × {width} pixels")
            try:
                seen = _measure({"size": [height, width], "counts": runs.encode()})
            except (ValueError, TypeError) as error:
                raise InputError(f"line {number} of {str(path)!r} must end in run lengths of a mask: {error}") from None
            if seen is not None:
                found[frame, name] = seen
    return found


def _measure(encoded: dict[str, Any]) -> _Seen | None:
    """The object of a mask; None if it is empty."""
    masks = _library()
    height, width = encoded["size"]
    left, top, across, down = map(int, masks.toBbox(encoded))
    mask: NDArray[np.uint8] = masks.decode(encoded)[top : top + down, left : left + across]
    area = int(mask.sum())
    if area == 0:
        return None
    x = left + 0.5 + float(mask.sum(axis=0) @ np.arange(across)) / area
    y = top + 0.5 + float(mask.sum(axis=1) @ np.arange(down)) / area
    unit = FRAME / height
    return _Seen(x * unit, y * unit, area * unit**2, width * unit)


def _library() -> Any:
    try:
        from pycocotools import mask
    except ImportError:
        raise InputError("reading annotations of masks needs pycocotools: pip install 'identica[images]'") from None
    return mask
