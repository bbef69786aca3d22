"""How much of the factors do the observations themselves show? Scores without any encoder, over many mixings.

python benchmarks/identity.py [--seeds 20]
"""

from __future__ import annotations

import argparse
from statistics import mean, stdev

from identica._checks import at_least_one
from identica.experiments import ROWS, Run
from identica.experiments.runner import make_process, random_stream
from identica.metrics import linear_r2, mcc

SAMPLES = 4096
ONE_OF_EACH_PROCESS = ("t1-01", "t1-05", "t1-09", "t1-11", "t1-12", "t2-01")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = at_least_one("--seeds", parser.parse_args().seeds)
    print("| row | metric | paper | ours |\n| --- | --- | --- | --- |")
    for row in (ROWS[name] for name in ONE_OF_EACH_PROCESS):
        metric = {"r2": linear_r2, "mcc": mcc}[row.metric]
        scores = []
        for seed in range(seeds):
            process = make_process(Run(row, seed, row.protocol("fast")))
            scores.append(100 * metric(*process.labelled(SAMPLES, random_stream(seed, "evaluation"))).value)
        assert row.identity is not None
        paper = f"{row.identity.mean:.2f} ± {row.identity.deviation:.2f}"
        print(f"| {row.id} | {row.metric.upper()} | {paper} | {mean(scores):.2f} ± {stdev(scores):.2f} |")


if __name__ == "__main__":
    main()
