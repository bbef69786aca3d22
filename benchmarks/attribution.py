"""Do channels that carry no factor come out last? Twenty channels mix five factors, ten are noise.

python benchmarks/attribution.py [--cases 10] [--steps 400]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from identica import ContrastiveICA
from identica.attribution import attribute

Array = NDArray[np.float64]
SIZES = (5, 20, 10)


def make_case(seed: int, pairs: int, sizes: tuple[int, int, int] = SIZES) -> tuple[Array, Array, Array]:
    """Pairs of observations, and which channels are dead: noise of the same spread, new in each partner.

    Args:
        seed: Of all that is drawn.
        pairs: How many.
        sizes: Factors, channels that mix them, and dead channels.
    """
    factor_count, carrying, dead = sizes
    random = np.random.default_rng(seed)
    factors = random.uniform(size=(pairs, factor_count))
    moved = factors + random.laplace(scale=0.05, size=factors.shape)
    partners = np.abs((moved + 1) % 2 - 1)
    first, second = random.normal(size=(factor_count, carrying)), random.normal(size=(carrying, carrying))
    order = random.permutation(carrying + dead)
    halves = []
    for z in (factors, partners):
        mixed = np.tanh((z - 0.5) @ first) @ second
        mixed = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
        measured = mixed + 0.1 * random.normal(size=mixed.shape)
        halves.append(np.concatenate([measured, random.normal(size=(pairs, dead))], axis=1)[:, order])
    return halves[0], halves[1], order >= carrying


def margin(seed: int, pairs: int, steps: int, sizes: tuple[int, int, int] = SIZES) -> float:
    """The weakest channel that carries a factor, over the strongest that does not: above 1 if all these come last."""
    x, x_pos, dead = make_case(seed, pairs, sizes)
    model = ContrastiveICA(sizes[0], max_steps=steps, batch_size=512, random_state=seed).fit(x, x_pos)
    found = attribute(model, x).of_channels
    return float(found[~dead].min() / found[dead].max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    print("| case | dead channels last | weakest that carries / strongest that is dead | seconds |")
    print("| --- | --- | --- | --- |")
    right = 0
    for seed in range(options.cases):
        started = time.monotonic()
        ratio = margin(seed, options.pairs, options.steps)
        right += ratio > 1
        print(
            f"| {seed} | {'yes' if ratio > 1 else 'no'} | {ratio:.1f} | {time.monotonic() - started:.0f} |", flush=True
        )
    print(f"\n{right} of {options.cases}: ten dead channels of thirty come last")


if __name__ == "__main__":
    main()
