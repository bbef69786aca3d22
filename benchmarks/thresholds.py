"""Seconds until a row's score crosses thresholds, by the fast protocol, two rows at a time.

python benchmarks/thresholds.py [--rows t1-02 t2-01] [--steps N]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from identica.experiments import LocalEngine, RunStore, find_rows

THRESHOLDS = (80, 90, 95, 98, 99, 99.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=["t1-02", "t2-01"])
    parser.add_argument("--steps", type=int, help="instead of the protocol's")
    arguments = parser.parse_args()
    plan = [row.run(0, steps=arguments.steps) for row in find_rows(arguments.rows)]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for outcome in LocalEngine(workers=2).compute(plan, RunStore(Path(folder))):
            record, metric = outcome.record, outcome.run.scores[0]
            assert record is not None, outcome.error
            per_step = record["seconds"] / record["steps"]
            reached = {
                str(threshold): round(point["step"] * per_step, 1)
                for threshold in THRESHOLDS
                if (point := next((p for p in record["curve"] if p[metric] >= threshold), None)) is not None
            }
            final = record["scores"][metric]["value"]
            results[outcome.run.title] = {"metric": metric, "final": final, "seconds": reached}
    print(json.dumps(results))


if __name__ == "__main__":
    main()
