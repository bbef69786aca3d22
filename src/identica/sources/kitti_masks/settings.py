"""KITTI Masks as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final, get_args

import numpy as np
import torch
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica._folders import cache_folder, data_folder
from identica._random import random_stream
from identica.sources.annotations import annotation_digest, annotation_files
from identica.sources.base import SourceSettings
from identica.sources.kitti_masks.generating import make_masks
from identica.sources.kitti_masks.pairs import MaskPairs
from identica.sources.kitti_masks.released import read_released
from identica.sources.kitti_masks.sequences import MaskSequences, read_masks

__all__ = ["KittiData", "KittiMasks"]

KittiData = Literal["released", "annotations"]
"""The authors' file, or masks that are cut here from what there is of the annotations."""

_WAY = "1"  # of this way to cut masks: part of the name of what is kept
_LABELS = {"released": "KITTI Masks", "annotations": "KITTI Masks (a subset, made from annotations)"}


@final
@dataclass(frozen=True)
class KittiMasks(SourceSettings):
    """Pairs of masks of one pedestrian, some frames apart.

    Args:
        max_lag: The most frames between partners: 1, or 5 in the paper.
        data: `released`, or `annotations` for masks that are cut here.
        held_out: Part of the sequences that is never trained on, for scores; all sequences of a person are in it or
            none. Which ones, the seed decides.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    max_lag: int = 1
    data: KittiData = "released"
    held_out: float = 0.1

    def __post_init__(self) -> None:
        _checks.at_least_one("max_lag", self.max_lag)
        _checks.choice("data", self.data, get_args(KittiData))
        if not 0 <= self.held_out < 1:
            raise InputError(f"held_out must be from 0 to below 1, got {self.held_out!r}")

    def __str__(self) -> str:
        apart = "1 frame" if self.max_lag == 1 else f"up to {self.max_lag} frames"
        unlike = "" if self.held_out == type(self).held_out else f", {100 * self.held_out:g} % held out"
        return f"{self.name}, {apart} apart{unlike}"

    @property
    def name(self) -> str:
        """What the masks are called, whatever their pairs."""
        return _LABELS[self.data]

    @property
    def path(self) -> Path:
        """Where the file is looked for; masks from annotations are made on first use if it is not there."""
        name = "kitti_peds_v2.pickle" if self.data == "released" else "kitti_masks.npz"
        return data_folder() / "kitti_masks" / name

    def build(self, seed: int, device: str = "cpu") -> MaskPairs:
        """The source; the seed chooses the sequences that are held out."""
        sequences = self.sequences()
        return MaskPairs(sequences, self.max_lag, self._trained_on(sequences, seed), device)

    def sequences(self) -> MaskSequences:
        """All sequences."""
        if self.data == "annotations":
            return read_masks(self.path if self.path.is_file() else _made())
        if not self.path.is_file():
            raise InputError(
                f"data='released' needs the file {str(self.path)!r}, which is not there: "
                "`identica download kitti-masks` fetches it; data='annotations' makes a subset"
            )
        return read_released(self.path)

    def _trained_on(self, sequences: MaskSequences, seed: int) -> Tensor:
        """Sequences of all but the first people in a random order that have enough of them."""
        people, counts = np.unique(sequences.tracks.numpy(), return_counts=True)
        order = torch.randperm(len(people), generator=random_stream(seed, "held-out")).numpy()
        held = order[counts[order].cumsum() <= self.held_out * len(sequences)]
        return torch.from_numpy(np.flatnonzero(~np.isin(sequences.tracks.numpy(), people[held])))

    def available(self) -> KittiMasks:
        """The released file if it is there, otherwise masks from annotations."""
        return self if self.data != "released" or self.path.is_file() else replace(self, data="annotations")

    def published(self) -> KittiMasks:
        """With the released file."""
        return replace(self, data="released")

    def unpaired(self) -> KittiMasks:
        """The same masks without what decides on pairs."""
        return replace(self, max_lag=1)

    def describe(self) -> str:
        """A sentence on the masks and their pairs."""
        apart = "one frame later" if self.max_lag == 1 else f"up to {self.max_lag} frames later"
        held = f" {100 * self.held_out:g} % of the sequences were never trained on." if self.held_out else ""
        return f"Images are those of {self.name}; a partner is the same person {apart}.{held}"


def _made() -> Path:
    """The masks of all annotations in the folder of data sets, made once and kept in the user's cache folder."""
    files = annotation_files()
    kept = cache_folder() / "kitti_masks" / f"mots-{annotation_digest(files, _WAY)}.npz"
    if not kept.is_file():
        make_masks(files, kept)
    return kept
