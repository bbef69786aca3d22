"""Figure 3: what each of the ten latents of 3DIdent does to an image, and what an encoder recovers along the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica.experiments.restore import restore_learner, run_of
from identica.experiments.store import RunStore
from identica.rendering.latents import LATENTS, to_scene
from identica.rendering.renderer import TeapotRenderer
from identica.sources import ThreeDIdent
from identica.sources.threedident import SceneImages

__all__ = ["Recovered", "Traversal", "nearest_images", "recover", "rendered_images", "traverse", "traverse_run"]

_FEWEST_IMAGES = 3
_SAMPLES = 16

Picture = Callable[[NDArray[np.float64]], NDArray[np.uint8]]
"""From latents of scenes, [count, 10], to images, [count, height, width, 3]."""


@final
@dataclass(frozen=True)
class Traversal:
    """Images along each latent, all others kept in the middle of their range.

    Args:
        values: Of the latent that moves, from -1 to 1, [steps].
        images: Bytes, [10 latents, steps, height, width, 3].
        how: Where images come from, in words.
    """

    values: NDArray[np.float64]
    images: NDArray[np.uint8]
    how: str


@final
@dataclass(frozen=True)
class Recovered:
    """What a trained encoder makes of the images of a traversal.

    Args:
        run: Its name in the store.
        components: Of each latent, the component that was assigned to it when the run was scored (-1: none).
        codes: [10 latents, steps, components].
        mcc: Of each latent, the correlation with that component on test images, in percent.
    """

    run: str
    components: tuple[int, ...]
    codes: NDArray[np.float64]
    mcc: tuple[float, ...]

    def along(self, latent: int) -> NDArray[np.float64]:
        """Values of the assigned component along a latent, [steps]; nothing if none was assigned."""
        component = self.components[latent]
        found: NDArray[np.float64] = self.codes[latent, :, component] if component >= 0 else self.codes[latent, :0, 0]
        return found

    @property
    def scaled(self) -> NDArray[np.float64]:
        """The codes, each component from 0, its smallest value along all latents, to 1, its largest."""
        low, high = self.codes.min(axis=(0, 1)), self.codes.max(axis=(0, 1))
        found: NDArray[np.float64] = (self.codes - low) / np.where(high > low, high - low, 1.0)
        return found


def traverse(picture: Picture, steps: int = 7, how: str = "rendered") -> Traversal:
    """Images along each latent.

    Args:
        picture: Makes images, such as `rendered_images(112)`.
        steps: Images along a latent.
        how: Where images come from, in words.
    """
    values = np.linspace(-1.0, 1.0, _checks.at_least("steps", steps, _FEWEST_IMAGES))
    count = len(LATENTS)
    unit = np.zeros((count, steps, count))
    for latent in range(count):
        unit[latent, :, latent] = values
    images = picture(to_scene(unit.reshape(-1, count)))
    return Traversal(values, images.reshape(count, steps, *images.shape[1:]), how)


def rendered_images(pixels: int) -> Picture:
    """Makes images of so many pixels a side by rendering them."""
    return TeapotRenderer(pixels, _SAMPLES).render


def nearest_images(scenes: SceneImages) -> Picture:
    """Makes images without a renderer: those of a folder whose latents are nearest."""

    def picture(latents: NDArray[np.float64]) -> NDArray[np.uint8]:
        reach = to_scene(np.ones((1, len(LATENTS))))
        wanted = torch.from_numpy(latents / reach).float()
        found: NDArray[np.uint8] = scenes.images[torch.cdist(wanted, scenes.latents).argmin(dim=1).numpy()]
        return found

    return picture


def recover(store: RunStore, name: str, traversal: Traversal) -> Recovered:
    """Codes of the images of a traversal, by the trained learner of a run.

    Args:
        store: Where it was trained.
        name: Of the run.
        traversal: With images of the size that it was trained on.
    """
    run, learner = restore_learner(store, name)
    record = store.load(name)
    assert record is not None
    if len(record["factors"]) != len(LATENTS) or "mcc" not in record["scores"]:
        raise InputError(f"name must be of a run of 3DIdent that was scored by MCC, got {name!r} of {record['source']}")
    flat = torch.from_numpy(traversal.images.reshape(-1, *traversal.images.shape[2:]))
    with torch.no_grad():
        codes = learner.codes(flat.permute(0, 3, 1, 2).float().div(255)).double().numpy()
    score: dict[str, Any] = record["scores"]["mcc"]
    shape = (*traversal.images.shape[:2], codes.shape[1])
    return Recovered(run.name, tuple(score["assignment"]), codes.reshape(shape), tuple(score["per_factor"]))


def traverse_run(store: RunStore, name: str) -> tuple[Traversal, Recovered] | None:
    """Images along each latent, of the size that a run was trained on, and what its learner makes of them.

    Where nothing can be rendered, the nearest test images are taken. None if this is no run of 3DIdent scored by MCC.

    Args:
        store: Where it was trained.
        name: Of the run.
    """
    record = store.load(name)
    source = None if record is None else run_of(record).source
    if record is None or not isinstance(source, ThreeDIdent) or "mcc" not in record["scores"]:
        return None
    test = source.read("test")
    try:
        picture, how = rendered_images(test.shape[1]), "rendered"
    except InputError:  # a library is missing
        picture, how = nearest_images(test), "nearest test images"
    traversal = traverse(picture, how=how)
    return traversal, recover(store, name, traversal)
