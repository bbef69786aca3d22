"""Transitions of cars and pedestrians, measured from the annotations of KITTI-MOTS and MOTSChallenge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from identica._checks import InputError
from identica._files import replacing
from identica._folders import cache_folder
from identica.sources.annotations import (
    CAR,
    PEDESTRIAN,
    Annotated,
    annotation_digest,
    annotation_files,
    read_annotations,
)
from identica.sources.sprites.drawing import FRAME
from identica.sources.sprites.transitions import Transitions

__all__ = ["measure_transitions", "mots_transitions"]

_CLASSES = (CAR, PEDESTRIAN)
_MEASURE = "1"  # of this way to measure: part of the name of what is kept


class _Seen(NamedTuple):
    """An object in a frame, in units of 64 to the height of the frame."""

    x: float
    y: float
    area: float
    width: float  # of the frame


def mots_transitions() -> Transitions:
    """Transitions of all annotations; they are measured once and kept in the user's cache folder."""
    files = annotation_files()
    kept = cache_folder() / "transitions" / f"mots-{annotation_digest(files, _MEASURE)}.npy"
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
    """Objects of a video by frame and name."""
    found = {}
    for one in read_annotations(path, _CLASSES):
        seen = _measure(one)
        if seen is not None:
            found[one.frame, one.name] = seen
    return found


def _measure(one: Annotated) -> _Seen | None:
    """The object of a mask; None if it is empty."""
    top, left, down, across = one.corner()
    mask = one.mask()[top : top + down, left : left + across]
    area = int(mask.sum())
    if area == 0:
        return None
    x = left + 0.5 + float(mask.sum(axis=0) @ np.arange(across)) / area
    y = top + 0.5 + float(mask.sum(axis=1) @ np.arange(down)) / area
    unit = FRAME / one.height
    return _Seen(x * unit, y * unit, area * unit**2, one.width * unit)
