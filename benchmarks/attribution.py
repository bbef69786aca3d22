"""Do channels that carry no factor come out last? Twenty channels mix five factors, ten are noise.

python benchmarks/attribution.py [--cases 10] [--steps 400]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica import ContrastiveICA
from identica.attribution import attribute

Array = NDArray[np.float64]
FACTORS, CARRYING, DEAD = 5, 20, 10


def make_case(seed: int, pairs: int) -> tuple[Array, Array, Array]:
    """Pairs of thirty channels, and which of them are dead; these are noise of the same spread, new in each partner."""
    random = np.random.default_rng(seed)
    factors = random.uniform(size=(pairs, FACTORS))
    moved = factors + random.laplace(scale=0.05, size=factors.shape)
    partners = np.abs((moved + 1) % 2 - 1)
    first, second = random.normal(size=(FACTORS, CARRYING)), random.normal(size=(CARRYING, CARRYING))
    order = random.permutation(CARRYING + DEAD)
    halves = []
    for z in (factors, partners):
        mixed = np.tanh((z - 0.5) @ first) @ second
        mixed = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
        measured = mixed + 0.1 * random.normal(size=mixed.shape)
        halves.append(np.concatenate([measured, random.normal(size=(pairs, DEAD))], axis=1)[:, order])
    return halves[0], halves[1], order >= CARRYING


def margin(seed: int, pairs: int, steps: int, **settings: Any) -> float:
    """The weakest channel that carries a factor, over the strongest that does not: above 1 if all these come last."""
    x, x_pos, dead = make_case(seed, pairs)
    model = ContrastiveICA(FACTORS, max_steps=steps, batch_size=512, random_state=seed, **settings).fit(x, x_pos)
    found = attribute(model, x).of_channels
    return float(found[~dead].min() / found[dead].max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    print(
        "| case | dead channels last | weakest that carries / strongest that is dead | seconds |\n| --- | --- | --- | --- |"
    )
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
