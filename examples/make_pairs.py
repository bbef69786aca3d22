"""Pairs as another program would save them, by numpy alone: five factors in a box, mixed by a random network.

python examples/make_pairs.py [--out pairs.npz] [--pairs 50000] [--seed 0]

Writes `x` and `x_pos` to pairs.npz, and the factors themselves, which no fit may see, to latents.npy beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

FACTORS = 5


def mix(latents: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    """A network that can be inverted: rotations with leaky ReLUs between them."""
    values = latents
    for layer in layers[:-1]:
        values = values @ layer
        values = np.where(values > 0, values, 0.2 * values)
    return values @ layers[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("pairs.npz"))
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    layers = [np.linalg.qr(generator.normal(size=(FACTORS, FACTORS)))[0] for _ in range(3)]
    latents = generator.uniform(size=(options.pairs, FACTORS))
    partners = latents + generator.laplace(scale=0.05, size=latents.shape)
    while (outside := (partners < 0) | (partners > 1)).any():  # noise that leaves the box is drawn again
        partners = np.where(outside, latents + generator.laplace(scale=0.05, size=latents.shape), partners)
    np.savez(options.out, x=mix(latents, layers), x_pos=mix(partners, layers))
    np.save(options.out.with_name("latents.npy"), latents)
    print(f"{options.pairs} pairs in {options.out}, their factors in {options.out.with_name('latents.npy')}")


if __name__ == "__main__":
    main()
