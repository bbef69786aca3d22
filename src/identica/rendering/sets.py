"""A set of pictures as plain data: how many, of which size, and of which latents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica._random import random_stream
from identica.laws import Conditional, Law, Marginal, Uniform
from identica.rendering.latents import LATENTS, to_scene
from identica.rendering.scene import Scene
from identica.spaces import Box

__all__ = ["LAYOUTS", "UNIT_BOX", "Layout", "RenderedSet"]

Layout = Literal["files", "array"]
"""One PNG file for each picture, or all in one array that can be mapped into memory."""

LAYOUTS: tuple[Layout, ...] = ("files", "array")
"""The layouts there are."""

UNIT_BOX = Box(len(LATENTS), -1.0, 1.0)
"""Where unit latents lie."""

_SCENE = Scene()


@final
@dataclass(frozen=True)
class RenderedSet:
    """Pictures of latents that are uniform in [-1, 1]^10, and of their partners if there is a law for them.

    Args:
        count: Of pictures, partners not counted.
        size: Pixels of a side.
        seed: Of the latents.
        layout: `files` or `array`.
        pairs: p(z~ | z), confined to the box; None for single pictures.
        samples: Rays through a pixel.
        scene: What is the same in all pictures.
    """

    count: int
    size: int = 64
    seed: int = 0
    layout: Layout = "files"
    pairs: Law | None = None
    samples: int = 4
    scene: Scene = _SCENE

    def __post_init__(self) -> None:
        for name in ("count", "size", "samples"):
            _checks.at_least_one(name, getattr(self, name))
        _checks.seed("seed", self.seed)
        _checks.choice("layout", self.layout, LAYOUTS)
        if isinstance(self.pairs, Uniform):
            raise InputError("pairs must be a law around the latents of the first picture, got uniform")
        if self.pairs is not None:
            self.pairs.check(UNIT_BOX)

    @property
    def names(self) -> tuple[str, ...]:
        """How the names of files start: those of the pictures with nothing, those of their partners with `partner_`."""
        return ("",) if self.pairs is None else ("", "partner_")

    def parts(self) -> dict[str, NDArray[np.float64]]:
        """Unit latents by `names`."""
        anchors = Marginal(UNIT_BOX, Uniform()).sample(self.count, random_stream(self.seed, "latents"))
        drawn = [anchors]
        if self.pairs is not None:
            stream = random_stream(self.seed, "partners")
            drawn.append(Conditional(UNIT_BOX, self.pairs).sample(anchors, stream))
        return {name: one.numpy().astype(np.float64) for name, one in zip(self.names, drawn, strict=True)}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The files of latents by name: unit ones are called raw, those of the scene have no other name."""
        parts = self.parts()
        raw = {f"{name}raw_latents": unit for name, unit in parts.items()}
        return raw | {f"{name}latents": to_scene(unit) for name, unit in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self) | {"pairs": None if self.pairs is None else str(self.pairs)}
