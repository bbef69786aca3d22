"""dSprites: a white square, ellipse or heart of some size, turned and moved, on black."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final, get_args

import numpy as np
import torch
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica._folders import data_folder
from identica.sources._npz import read_array, read_binary_images
from identica.sources.base import Factor, SourceSettings
from identica.sources.binary_images import BinaryImages
from identica.sources.sprites.grid import Grid
from identica.sources.sprites.grid_pairs import GridPairs
from identica.sources.sprites.pair_laws import LaplaceMoves, PairLaw, UniformMoves

__all__ = ["DSPRITES_GRID", "DSprites", "SpritesData", "SpritesPairs", "dsprites_values", "read_dsprites"]

SpritesPairs = Literal["UNI", "LAP"]
"""Laws of pairs."""
SpritesData = Literal["full", "downsampled", "subset"]
"""All images; those of every 4th orientation and every 2nd x and y; 20 000 at random."""

DSPRITES_GRID = Grid(
    (
        Factor("shape", "categorical"),
        Factor("scale", "ordinal"),
        Factor("orientation", "circular"),
        Factor("x", "ordinal"),
        Factor("y", "ordinal"),
    ),
    (3, 6, 40, 32, 32),
)
"""The factors of dSprites; images of the official file are in the order of its places."""

_FILES = {
    "full": "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    "downsampled": "dsprites_downsampled.npz",
    "subset": "dsprites_subset.npz",
}
_LABELS = {
    "full": "dSprites",
    "downsampled": "dSprites (every 4th orientation, 2nd x and y)",
    "subset": "dSprites (20 000 random images)",
}


@final
@dataclass(frozen=True)
class DSprites(SourceSettings):
    """Pairs of dSprites.

    Args:
        pairs: `UNI` or `LAP`, how partners differ; None if no pairs are needed.
        data: Which images: `full`, or what there is of them in `downsampled` or `subset`.
        rate: Of `LAP`; steps have the scale log(number of values) / rate.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    pairs: SpritesPairs | None = "LAP"
    data: SpritesData = "full"
    rate: float = 1.0

    def __post_init__(self) -> None:
        if self.pairs is not None:
            _checks.choice("pairs", self.pairs, get_args(SpritesPairs))
        _checks.choice("data", self.data, get_args(SpritesData))
        _checks.positive("rate", self.rate)
        if self.pairs != "LAP" and self.rate != 1:
            raise InputError(f"rate must be 1 unless pairs are 'LAP', got {self.rate:g} with {self.pairs!r}")

    def __str__(self) -> str:
        rate = "" if self.rate == 1 else f" (rate {self.rate:g})"
        return _LABELS[self.data] + ("" if self.pairs is None else f", {self.pairs} pairs{rate}")

    @property
    def path(self) -> Path:
        """Where the file is looked for."""
        return data_folder() / "dsprites" / _FILES[self.data]

    def build(self, seed: int, device: str = "cpu") -> GridPairs:
        """The source; nothing about it is random but the pairs that are drawn."""
        if not self.path.is_file():
            hint = (
                "`identica download dsprites` fetches it" if self.data == "full" else "IDENTICA_DATA names its folder"
            )
            raise InputError(f"data={self.data!r} needs the file {str(self.path)!r}, which is not there: {hint}")
        images, places = read_dsprites(self.path)
        classes = DSPRITES_GRID.classes(places)
        grid = DSPRITES_GRID.part(classes)
        values = [column[grid.marks(place)] for place, column in enumerate(dsprites_values())]
        packed = BinaryImages(images.bits.to(device), images.size)
        return GridPairs(packed, grid, grid.places(grid.from_whole(classes)), values, self._law(grid))

    def _law(self, grid: Grid) -> PairLaw | None:
        if self.pairs is None:
            return None
        return UniformMoves(grid) if self.pairs == "UNI" else LaplaceMoves(grid, self.rate)

    def available(self) -> DSprites:
        """All images if the official file is there, otherwise a part that is."""
        parts = (replace(self, data=data) for data in get_args(SpritesData))
        return next((one for one in (self, *parts) if one.path.is_file()), self)

    def published(self) -> DSprites:
        """The same law of pairs among all images."""
        return replace(self, data="full")

    def unpaired(self) -> DSprites:
        """The same images without a law of pairs."""
        return replace(self, pairs=None, rate=1.0)

    def describe(self) -> str:
        """A sentence on the images and their pairs."""
        images = f"Images are those of {_LABELS[self.data]}"
        if self.pairs is None:
            return f"{images}."
        moves = "some factors take another value" if self.pairs == "UNI" else "all factors but the shape move a little"
        missing = "" if self.data == "full" else ", as far as such images are there"
        return f"{images}. Between the images of a pair {moves}{missing}."


def dsprites_values() -> list[Tensor]:
    """Of each factor the numbers that its classes stand for: shapes 1 to 3, angles in radians."""
    ends = ((1, 3), (0.5, 1), (0, 2 * torch.pi), (0, 1), (0, 1))
    return [
        torch.linspace(low, high, size, dtype=torch.float64)
        for (low, high), size in zip(ends, DSPRITES_GRID.whole, strict=True)
    ]


def read_dsprites(path: Path) -> tuple[BinaryImages, Tensor]:
    """Images of the official file or of a part of it, and their places on the grid.

    A part says in `original_dataset_indices` which images of the whole it holds. Only arrays of numbers are read; the
    `metadata` of the official file, which is a pickle, is never touched.
    """
    images = read_binary_images(path, "imgs")
    values = read_array(path, "latents_values")
    if len(images) == DSPRITES_GRID.count:
        places = np.arange(len(images))
    else:
        places = np.asarray(read_array(path, "original_dataset_indices"), dtype=np.int64)
    inside = places.size and places.min() >= 0 and places.max() < DSPRITES_GRID.count
    if not inside or len({len(images), len(values), len(np.unique(places))}) != 1:
        raise InputError(
            f"{str(path)!r} must hold images of dSprites, each once, with values and places, "
            f"got {len(images)} images, {len(values)} values and {len(np.unique(places))} different places"
        )
    found = torch.from_numpy(places)
    classes = DSPRITES_GRID.classes(found)
    expected = [column[classes[:, place]] for place, column in enumerate(dsprites_values())]
    # The official file has a first column more, the colour, which is white throughout.
    if not np.allclose(values[:, -len(expected) :], torch.stack(expected, dim=1).numpy()):
        raise InputError(f"latents_values in {str(path)!r} must be those of dSprites at these places, got others")
    return images, found
