"""Sequences of masks in memory and on disk: frames one after the other, and how many belong to each sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from identica._checks import InputError
from identica._files import replacing
from identica.sources._npz import read_array, read_binary_images
from identica.sources.binary_images import BinaryImages

__all__ = ["MaskSequences", "measure_masks", "read_masks", "write_masks"]

_AT_ONCE = 4096


@final
@dataclass(frozen=True, eq=False)
class MaskSequences:
    """Masks of one object each, sequence after sequence.

    Args:
        images: The masks of all frames.
        factors: Vertical and horizontal centre of mass and area of each, in pixels, [frames, 3].
        lengths: Frames of each sequence.
        tracks: A number for each sequence, the same for those of one person.
    """

    images: BinaryImages
    factors: Tensor
    lengths: Tensor
    tracks: Tensor

    def __post_init__(self) -> None:
        frames = len(self.images)
        if self.factors.shape != (frames, 3):
            raise InputError(f"factors must have shape [{frames}, 3], one row a frame, got {list(self.factors.shape)}")
        if not len(self.lengths) or int(self.lengths.min()) < 1 or int(self.lengths.sum()) != frames:
            raise InputError(f"lengths must be at least 1 and add up to {frames} frames, got {int(self.lengths.sum())}")
        if self.tracks.shape != self.lengths.shape:
            raise InputError(f"tracks must be {len(self.lengths)}, one a sequence, got {list(self.tracks.shape)}")

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def transitions(self) -> int:
        """How many frames have a next one."""
        return int(self.lengths.sum()) - len(self)

    @property
    def sequence_of_frames(self) -> Tensor:
        """The number of the sequence that each frame is in."""
        return torch.repeat_interleave(torch.arange(len(self)), self.lengths)

    @property
    def frames_left(self) -> Tensor:
        """How many frames come after each one in its sequence."""
        ends = self.lengths.cumsum(0)
        return ends[self.sequence_of_frames] - 1 - torch.arange(len(self.images))


def measure_masks(masks: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Vertical and horizontal centre of mass and area, in pixels counted from 0, [masks, 3].

    Args:
        masks: Zeros and ones, [masks, height, width], none of them empty.
    """
    areas = masks.sum(axis=(1, 2), dtype=np.int64)
    if not areas.all():
        raise InputError(f"masks must not be empty, but that of number {int(np.argmin(areas))} is")
    down = masks.sum(axis=2, dtype=np.int64) @ np.arange(masks.shape[1])
    across = masks.sum(axis=1, dtype=np.int64) @ np.arange(masks.shape[2])
    return np.stack([down / areas, across / areas, areas], axis=1)


def write_masks(
    path: Path,
    masks: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    tracks: NDArray[np.int64],
    sources: Mapping[str, str],
) -> dict[str, Any]:
    """Write a compressed .npz of numbers and text alone; its manifest is returned.

    It holds `masks` (bytes of zeros and ones, [frames, height, width]), `latents` (vertical and horizontal centre of
    mass, area, [frames, 3]), `lengths` and `tracks` (of each sequence), and `manifest`, a JSON text.

    Args:
        path: Where.
        masks: Of all frames, sequence after sequence.
        lengths: Frames of each sequence.
        tracks: A number for each sequence, the same for those of one person.
        sources: SHA-256 checksums of the files that they were made from, by name.
    """
    manifest: dict[str, Any] = {
        "sequences": len(lengths),
        "transitions": int(lengths.sum() - len(lengths)),
        "frames": len(masks),
        "tracks": len(np.unique(tracks)),
        "size": list(masks.shape[1:]),
        "sources": dict(sources),
    }
    latents = np.concatenate([measure_masks(masks[at : at + _AT_ONCE]) for at in range(0, len(masks), _AT_ONCE)])
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished, unfinished.open("wb") as stream:
        np.savez_compressed(
            stream,
            masks=masks,
            latents=latents,
            lengths=lengths,
            tracks=tracks,
            manifest=np.array(json.dumps(manifest, sort_keys=True)),
        )
    return manifest


def read_masks(path: Path) -> MaskSequences:
    """Sequences of a file that `write_masks` made."""
    images = read_binary_images(path, "masks")
    arrays = {name: read_array(path, name) for name in ("latents", "lengths", "tracks")}
    for name, kind in (("latents", "f"), ("lengths", "i"), ("tracks", "i")):
        if arrays[name].dtype.kind != kind:
            raise InputError(f"{name} in {str(path)!r} must be numbers of kind {kind!r}, got {arrays[name].dtype}")
    try:
        return MaskSequences(images, *(torch.from_numpy(arrays[name]) for name in ("latents", "lengths", "tracks")))
    except InputError as error:
        raise InputError(f"{str(path)!r} does not hold sequences of masks: {error}") from None
