"""Small folders of scenes: random pictures whose mean colour follows their latents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identica.rendering.latents import to_scene


def scenes(count: int, seed: int, size: int = 16) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Pictures, [count, size, size, 3], and latents from -1 to 1."""
    draw = np.random.default_rng(seed)
    latents = draw.uniform(-1, 1, (count, 10))
    pictures = np.random.default_rng(7).normal(size=(10, size, size, 3))
    values = 128 + 20 * np.tensordot(latents, pictures, 1)
    return np.clip(values, 0, 255).astype(np.uint8), latents


def write_scenes(folder: Path, count: int, seed: int = 0, size: int = 16, prefix: str = "") -> None:
    """The array layout."""
    folder.mkdir(parents=True, exist_ok=True)
    images, latents = scenes(count, seed, size)
    np.save(folder / f"{prefix}images.npy", images)
    np.save(folder / f"{prefix}raw_latents.npy", latents)
    np.save(folder / f"{prefix}latents.npy", to_scene(latents))


def write_files(folder: Path, count: int, seed: int = 0, size: int = 16) -> None:
    """The released layout."""
    from PIL import Image

    (folder / "images").mkdir(parents=True)
    images, latents = scenes(count, seed, size)
    for place, one in enumerate(images):
        Image.fromarray(one).save(folder / "images" / f"{place:06d}.png")
    np.save(folder / "raw_latents.npy", latents)
    np.save(folder / "latents.npy", to_scene(latents))


def write_data_set(root: Path, training: int = 200, test: int = 60, size: int = 16) -> None:
    """What `ThreeDIdent` looks for at laptop size."""
    write_scenes(root / "3dident" / "laptop" / "train", training, 0, size)
    write_scenes(root / "3dident" / "laptop" / "test", test, 1, size)
