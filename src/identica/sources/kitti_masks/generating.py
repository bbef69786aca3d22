"""Masks of pedestrians cut from annotated videos, the way KITTI Masks was made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.sources.annotations import PEDESTRIAN, Annotated, read_annotations
from identica.sources.kitti_masks.sequences import write_masks

__all__ = ["FRAME", "LEAST_PIXELS", "WINDOWS", "cut_masks", "make_masks"]

FRAME = 64
"""Height and width of a mask."""
WINDOWS = 6
"""Windows in a frame, evenly spaced; they overlap."""
LEAST_PIXELS = 30
"""A mask of fewer pixels ends a sequence."""
_LEAST_FRAMES = 2


class _Cut(NamedTuple):
    """What is left of some videos: masks [frames, 64, 64], lengths of sequences, and whose they are."""

    masks: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    tracks: NDArray[np.int64]


def make_masks(files: Sequence[Path], path: Path) -> dict[str, Any]:
    """Cut the masks of all pedestrians in these annotations and write them to a file; its manifest is returned.

    Args:
        files: Annotations, one file a video, as `annotation_files` finds them.
        path: The file to write, as `write_masks` does.
    """
    if not files:
        raise InputError("files must be at least one of annotations, got none")
    found = cut_masks(files)
    sources = {f"{one.parent.name}/{one.name}": hashlib.sha256(one.read_bytes()).hexdigest() for one in files}
    return write_masks(path, *found, sources)


def cut_masks(files: Iterable[Path]) -> _Cut:
    """Masks [frames, 64, 64], lengths of their sequences, and a number for the person of each sequence.

    Frames are scaled to a height of 64 by nearest neighbour, and seen through six evenly spaced windows of 64 × 64.
    What a window shows of a person makes a sequence, which ends where it is below 30 pixels or not annotated; those of
    two frames or more are kept.
    """
    masks: list[NDArray[np.uint8]] = []
    lengths, tracks, people = [], [], 0
    for path in files:
        numbers: dict[int, int] = {}
        for name, one in _sequences(read_annotations(path, (PEDESTRIAN,))):
            tracks.append(people + numbers.setdefault(name, len(numbers)))
            lengths.append(len(one))
            masks.append(one)
        people += len(numbers)
    if not masks:
        raise InputError(f"annotations must show a pedestrian of {LEAST_PIXELS} pixels in consecutive frames, got none")
    return _Cut(np.concatenate(masks), np.array(lengths, np.int64), np.array(tracks, np.int64))


def _sequences(objects: Iterable[Annotated]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Sequences of one video, each with the name of the person, by name, window and time."""
    seen: dict[tuple[int, int], dict[int, NDArray[np.uint8]]] = {}
    for one in objects:
        for window, mask in enumerate(_windows(one)):
            if mask.sum() >= LEAST_PIXELS:
                seen.setdefault((one.name, window), {})[one.frame] = mask
    for (name, _), frames in sorted(seen.items(), key=lambda entry: entry[0]):
        times = np.array(sorted(frames))
        for run in np.split(times, np.flatnonzero(np.diff(times) > 1) + 1):
            if len(run) >= _LEAST_FRAMES:
                yield name, np.stack([frames[time] for time in run.tolist()])


def _windows(one: Annotated) -> Iterator[NDArray[np.uint8]]:
    """What each window shows of an object."""
    width = round(one.width * FRAME / one.height)
    if width < FRAME:
        raise InputError(f"frames must be at least as wide as high, got {one.height} × {one.width}")
    rows, columns = _nearest(FRAME, one.height), _nearest(width, one.width)
    scaled = one.mask()[rows[:, None], columns]
    for start in np.linspace(0, width - FRAME, WINDOWS).round().astype(int):
        yield scaled[:, start : start + FRAME]


def _nearest(count: int, size: int) -> NDArray[np.int64]:
    """Of `size` pixels those that stand for each of `count`: the first that a smaller one covers."""
    return (np.arange(count) * size) // count
