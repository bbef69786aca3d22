"""Clips of motion capture as observations: a row for each frame, a column for each coordinate of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from identica._checks import InputError
from identica.datafiles._sources import member
from identica.datafiles.bvh import Motion, read_bvh, varies
from identica.datafiles.dataset import Dataset

__all__ = ["CLIPS", "read_clip", "read_clips"]

CLIPS = (".bvh",)


def read_clip(path: Path, columns: Sequence[str] | None, trial: str | None) -> Dataset:
    """Places of the joints of one clip in the body's frame; coordinates that never change are left out."""
    return _dataset(path, [read_bvh(path)], columns, trial)


def read_clips(folder: Path, files: Sequence[Path], columns: Sequence[str] | None, trial: str | None) -> Dataset:
    """The same of several clips of a folder, one after the other; each is a trial."""
    motions = [read_bvh(file) for file in files]
    for file, motion in zip(files, motions, strict=True):
        _check_same(file, motion.joints, files[0], motions[0].joints)
    data = _dataset(folder, motions, columns, trial)
    labels = np.repeat([file.stem for file in files], [len(motion.angles) for motion in motions])
    return replace(data, trials=labels)


def _dataset(path: Path, motions: Sequence[Motion], columns: Sequence[str] | None, trial: str | None) -> Dataset:
    if trial is not None:
        raise InputError(f"trial must be left out for motion capture, where clips are trials, got {trial!r}")
    places = np.concatenate([motion.skeleton() for motion in motions])
    values = places.reshape(len(places), -1)
    names = [f"{joint}.{axis}" for joint in motions[0].joints for axis in "xyz"]
    # Constants are the skeleton's doing, not the user's, so here they are no mistake.
    varying = {names[column]: column for column in np.flatnonzero(varies(values))}
    if not varying:
        raise InputError(f"{str(path)!r} must hold motion, but no joint moves, seen from the root, from frame to frame")
    for name in columns or ():
        member("column", name, path, names)
    features = tuple(varying if columns is None else columns)
    return Dataset(values.take([names.index(name) for name in features], axis=1), names=features)


def _check_same(file: Path, joints: Sequence[str], first: Path, expected: Sequence[str]) -> None:
    pairs = enumerate(zip_longest(joints, expected, fillvalue="(none)"))
    for place, (joint, other) in pairs:
        if joint != other:
            raise InputError(
                f"{str(file)!r} must have the same joints as {first.name!r}, "
                f"but joint {place} (counted from 0) is {joint!r} instead of {other!r}"
            )
