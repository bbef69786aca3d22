"""A folder of pictures with a list of partners, made of dSprites: one shape that moves and grows.

python examples/dsprites_folder.py OUT [--pairs 20000] [--seed 0]

Reads dsprites/dsprites_downsampled.npz from the folder that the environment variable IDENTICA_DATA names. Writes
OUT/images/*.png, OUT/pairs.csv (two file names a line) and OUT/latents.csv (scale, x, y of each picture, in the order
of their names). Partners differ by Laplace noise in each factor, on the grid that the pictures exist for.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from PIL import Image

SHAPE, SCALE, ORIENTATION, X, Y = range(5)
FACTORS = (SCALE, X, Y)
WIDTH = 0.1  # of the noise, as a part of each factor's range


def pictures(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """All upright hearts: pictures [count, 64, 64] and grid positions of scale, x and y."""
    with np.load(path, allow_pickle=False) as file:
        places, images = file["latents_classes"], file["imgs"]
    chosen = (places[:, SHAPE] == 2) & (places[:, ORIENTATION] == 0)
    _, grid = np.unique(places[chosen][:, FACTORS], axis=0, return_inverse=True)
    order = np.argsort(grid)
    levels = [np.unique(places[chosen][:, factor], return_inverse=True)[1] for factor in FACTORS]
    return images[chosen][order], np.stack(levels, axis=1)[order]


def partners(levels: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """Pairs of row numbers: a picture, and another one near it in every factor."""
    sizes = levels.max(axis=0) + 1
    first = generator.integers(len(levels), size=count)
    moved = np.empty((count, len(sizes)), dtype=int)
    for factor, size in enumerate(sizes):
        distance = np.abs(np.arange(size)[:, None] - np.arange(size))
        weights = np.exp(-distance / (WIDTH * size))
        limits = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        draws = generator.uniform(size=count)[:, None]
        moved[:, factor] = np.minimum((draws > limits[levels[first, factor]]).sum(axis=1), size - 1)
    second = np.ravel_multi_index(tuple(moved.T), tuple(sizes))
    return np.stack([first, second], axis=1)[first != second]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    images, levels = pictures(Path(os.environ["IDENTICA_DATA"]) / "dsprites" / "dsprites_downsampled.npz")
    (options.out / "images").mkdir(parents=True, exist_ok=True)
    names = [f"heart{number:05d}.png" for number in range(len(images))]
    for name, image in zip(names, images, strict=True):
        Image.fromarray(255 * image.astype(np.uint8)).save(options.out / "images" / name)
    pairs = partners(levels, options.pairs, np.random.default_rng(options.seed))
    lines = "".join(f"{names[first]},{names[second]}\n" for first, second in pairs)
    (options.out / "pairs.csv").write_text(lines, encoding="utf-8")
    np.savetxt(options.out / "latents.csv", levels, fmt="%d", delimiter=",", header="scale,x,y", comments="")
    print(f"{len(images)} pictures and {len(pairs)} pairs in {options.out}")


if __name__ == "__main__":
    main()
