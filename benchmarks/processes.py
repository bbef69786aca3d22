"""How much faster one run is when processes share its batches.

    python benchmarks/processes.py [--processes 1 2] [--steps 30] [--rounds 3] [--json]

Each process has one thread. A step is that of the paper's settings: 6144 pairs through its network, InfoNCE with all
others as negatives, Adam. Beside steps in a second, it tells the processor time of a step in the busiest process: where
other work takes a part of the cores, its ratio is the speed-up that free cores would give. The best round counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"


def measure_here(row: str, steps: int, rounds: int) -> dict[str, float]:
    """Seconds of a step in this process, as one of those that were launched."""
    import torch

    from identica._random import random_stream
    from identica._ranks import launched
    from identica.assembly import assemble
    from identica.experiments import ROWS
    from identica.training import Schedule, make_optimizers, train

    torch.set_num_threads(1)
    run = ROWS[row].run(0, "paper")
    source, training = run.source.build(0), run.recipe.training
    learner = assemble(run.learner, run.recipe, source, 0)
    moments: list[tuple[float, float]] = []
    train(
        learner,
        source,
        make_optimizers(learner, training),
        Schedule(steps * rounds + 5),
        batch_size=training.batch_size,
        generator=random_stream(0, "batches"),
        device="cpu",
        report=lambda *_: moments.append((time.perf_counter(), time.process_time())),
        spread=True,
    )
    marks = moments[4::steps]  # the first steps compile
    spans = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(marks)]
    found = torch.tensor([min(span[kind] for span in spans) / steps for kind in (0, 1)])
    if launched().size > 1:
        torch.distributed.all_reduce(found, torch.distributed.ReduceOp.MAX)
    return {"seconds": float(found[0]), "processor_seconds": float(found[1])}


def measure(row: str, processes: int, steps: int, rounds: int) -> dict[str, float]:
    """The same in processes of their own."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    words = [str(Path(__file__)), "--worker", "--row", row, "--steps", str(steps), "--rounds", str(rounds)]
    command = [sys.executable, *(launcher if processes > 1 else []), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found: dict[str, float] = json.loads(lines[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--row", default="t2-01")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        found = measure_here(options.row, options.steps, options.rounds)
        if os.environ.get("RANK", "0") == "0":
            print(json.dumps(found), flush=True)
        return
    each = {count: measure(options.row, count, options.steps, options.rounds) for count in options.processes}
    first = each[options.processes[0]]
    for count, one in each.items():
        line = {"processes": count, **one}
        line |= {f"ratio of {name}": round(first[name] / one[name], 2) for name in one}
        print(json.dumps(line) if options.json else "  ".join(f"{name} {value:.4g}" for name, value in line.items()))


if __name__ == "__main__":
    main()
