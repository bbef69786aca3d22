"""How much of the factors do the observations themselves show? Scores without any encoder, over many mixings.

python benchmarks/identity.py [--seeds 20]
"""

from __future__ import annotations

import argparse
from statistics import mean, stdev

from identica._checks import at_least_one
from identica._random import random_stream
from identica.experiments import ROWS
from identica.metrics import SCORES, symbol

SAMPLES = 4096
ONE_OF_EACH_PROCESS = ("t1-01", "t1-05", "t1-09", "t1-11", "t1-12", "t2-01")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = at_least_one("--seeds", parser.parse_args().seeds)
    print("| row | metric | paper | ours |\n| --- | --- | --- | --- |")
    for row in (ROWS[name] for name in ONE_OF_EACH_PROCESS):
        metric, reference = SCORES[row.score].compute, row.reference("identity")
        scores = []
        for seed in range(seeds):
            source = row.source.build(seed)
            scores.append(100 * metric(*source.with_factors(SAMPLES, random_stream(seed, "evaluation"))).value)
        assert reference is not None
        paper = f"{reference.mean:.2f} ± {reference.deviation:.2f}"
        print(f"| {row.id} | {symbol(row.score)} | {paper} | {mean(scores):.2f} ± {stdev(scores):.2f} |")


if __name__ == "__main__":
    main()
