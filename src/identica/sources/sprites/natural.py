"""Natural Sprites: simple shapes that move and grow as real objects do from one frame of a video to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from identica import _checks
from identica._checks import InputError
from identica._folders import data_folder
from identica._random import random_stream
from identica.sources.base import Factor, FixableSource, SourceSettings
from identica.sources.sprites.drawing import FRAME, SHAPES, draw_sprites
from identica.sources.sprites.mots import mots_transitions
from identica.sources.sprites.transitions import Transitions, read_transitions

__all__ = ["NaturalPairs", "NaturalSprites", "SpritesTransitions", "SpritesVersion"]

SpritesVersion = Literal["continuous", "discrete"]
"""Places and sizes as they were measured, or in bins."""
SpritesTransitions = Literal["csv", "mots"]
"""Where they were measured: YouTube-VOS, or the annotations of KITTI-MOTS and MOTSChallenge."""

_ANGLES = 40
_BINS = (32, 32, 6)
_OUTLIERS = 0.05
_LABELS = {"csv": "YouTube-VOS", "mots": "kitti-mots + mots"}


@final
@dataclass(frozen=True)
class NaturalSprites(SourceSettings):
    """Pairs of sprites whose place and size are those of real objects in two consecutive frames.

    Args:
        version: `continuous`, or `discrete`: x, y and area in 32, 32 and 6 bins.
        transitions: `csv`, the published measurements, or `mots`, measured here from annotations of other videos.
        drawn: How many pairs are drawn ahead, with different seeds different ones; training draws from these.
    """

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    version: SpritesVersion = "continuous"
    transitions: SpritesTransitions = "csv"
    drawn: int = 40_000

    def __post_init__(self) -> None:
        _checks.choice("version", self.version, get_args(SpritesVersion))
        _checks.choice("transitions", self.transitions, get_args(SpritesTransitions))
        _checks.at_least("drawn", self.drawn, 2)

    def __str__(self) -> str:
        fewer = "" if self.drawn == type(self).drawn else f", {self.drawn} pairs"
        return f"Natural Sprites ({self.version}), transitions: {_LABELS[self.transitions]}{fewer}"

    @property
    def path(self) -> Path:
        """Where the published measurements are looked for."""
        return data_folder() / "natural_sprites" / "downscale_keepaspect.csv"

    def build(self, seed: int, device: str = "cpu") -> NaturalPairs:
        """The source, with the pairs that the seed draws."""
        found = self._transitions().without_outliers(_OUTLIERS)
        found, centres = found.binned(_BINS) if self.version == "discrete" else (found, None)
        return NaturalPairs(found, centres is not None, self.drawn, random_stream(seed, "sprites"), device)

    def available(self) -> NaturalSprites:
        """With the published measurements if they are there, otherwise with those of annotations."""
        return self if self.transitions != "csv" or self.path.is_file() else replace(self, transitions="mots")

    def published(self) -> NaturalSprites:
        """With the published measurements."""
        return replace(self, transitions="csv")

    def describe(self) -> str:
        """A sentence on the sprites and where their moves come from."""
        places = "" if self.version == "continuous" else ", in bins"
        return (
            f"Between the images of a pair a sprite moves and grows as a real object did between two frames{places} "
            f"(transitions: {_LABELS[self.transitions]}); its shape and its orientation stay."
        )

    def _transitions(self) -> Transitions:
        if self.transitions == "mots":
            return mots_transitions()
        if not self.path.is_file():
            raise InputError(
                f"transitions='csv' needs the file {str(self.path)!r}, which is not there: "
                "`identica download natural-sprites` fetches it; transitions='mots' measures others"
            )
        return read_transitions(self.path)


@final
class NaturalPairs(FixableSource):
    """Pairs of pictures that were drawn ahead; single ones for scores are drawn when they are asked for.

    Factors are shape (its class), scale (the square root of the area, in frames), orientation (radians), x and y (in
    frames). Shape and orientation are uniform and the same in both pictures of a pair. Single sprites are where the
    objects were in the first frame; in the discrete version all factors are drawn by themselves, uniformly from the
    bins that occur.

    Args:
        transitions: What moves are drawn from.
        discrete: Whether their values are centres of bins.
        drawn: How many pairs to draw ahead.
        generator: Of these pairs.
        device: Where pictures are kept.
    """

    def __init__(
        self, transitions: Transitions, discrete: bool, drawn: int, generator: Generator, device: str = "cpu"
    ) -> None:
        kind: Literal["ordinal", "continuous"] = "ordinal" if discrete else "continuous"
        self.factors = (
            Factor("shape", "categorical"),
            Factor("scale", kind),
            Factor("orientation", "circular"),
            Factor("x", kind),
            Factor("y", kind),
        )
        self.shape = (1, FRAME, FRAME)
        x, y, scale = transitions.places_and_scales().transpose(2, 0, 1)
        self.moves = torch.from_numpy(np.stack([scale, x, y], axis=2))  # [transitions, 2 frames, 3]
        self.values = [column.unique() for column in self.moves.flatten(0, 1).T] if discrete else None
        # Each transition once before any comes twice.
        rounds = [
            torch.randperm(len(self.moves), generator=generator) for _ in range(math.ceil(drawn / len(transitions)))
        ]
        looks = _looks(drawn, generator)[:, None].expand(-1, 2, -1)
        self.pool_factors = _with_looks(looks, self.moves[torch.cat(rounds)[:drawn]])
        pictures = _drawn(self.pool_factors.flatten(0, 1))
        self.pool = torch.from_numpy(pictures).view(drawn, 2, *self.shape).to(device)

    def __len__(self) -> int:
        return len(self.pool)

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw pairs from those that were drawn ahead, with replacement."""
        rows = torch.randint(len(self), (count,), generator=generator, device=generator.device)
        return self._at(rows, generator)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw up to `count` different pairs."""
        return self._at(torch.randperm(len(self), generator=generator, device=generator.device)[:count], generator)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw up to `count` first pictures of different pairs."""
        return self.distinct_pairs(count, generator)[0]

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw single sprites and their factors."""
        return self._pictured(self._singles(count, generator), generator)

    def with_fixed(self, factor: int, count: int, generator: Generator, groups: int = 1) -> tuple[Tensor, Tensor]:
        """Draw groups of sprites that share the value of one factor; the others are as in single sprites."""
        _checks.column("factor", factor, self.factors)
        factors = self._singles(groups * count, generator).view(groups, count, -1)
        factors[..., factor] = self._singles(groups, generator)[:, None, factor]
        found, pictures = self._pictured(factors.flatten(0, 1), generator)
        return found.view(groups, count, -1), pictures.view(groups, count, *self.shape)

    def _at(self, rows: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        chosen = self.pool.index_select(0, rows.to(self.pool.device)).float().div_(255).to(generator.device)
        return chosen[:, 0], chosen[:, 1]

    def _singles(self, count: int, generator: Generator) -> Tensor:
        """Factors of single sprites, [count, factors], on the CPU."""
        looks = _looks(count, generator)
        if self.values is None:
            return _with_looks(looks, self.moves[_drawn_from(len(self.moves), count, generator), 0])
        columns = [column[_drawn_from(len(column), count, generator)] for column in self.values]
        return _with_looks(looks, torch.stack(columns, dim=1))

    def _pictured(self, factors: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
        pictures = torch.from_numpy(_drawn(factors)).float().div_(255)[:, None]
        return factors.float().to(generator.device), pictures.to(generator.device)


def _drawn_from(size: int, count: int, generator: Generator) -> Tensor:
    return torch.randint(size, (count,), generator=generator, device=generator.device).cpu()


def _looks(count: int, generator: Generator) -> Tensor:
    """Shapes and orientations, [count, 2]."""
    angles = _drawn_from(_ANGLES, count, generator).double() * (2 * math.pi / _ANGLES)
    return torch.stack([_drawn_from(len(SHAPES), count, generator).double(), angles], dim=1)


def _with_looks(looks: Tensor, moves: Tensor) -> Tensor:
    """Shape, scale, orientation, x and y, side by side."""
    return torch.cat([looks[..., :1], moves[..., :1], looks[..., 1:], moves[..., 1:]], dim=-1)


def _drawn(factors: Tensor) -> NDArray[np.uint8]:
    shapes, scales, angles, x, y = factors.numpy().T
    return draw_sprites(shapes.astype(np.int64), scales, angles, x, y)
