r"""Are components of motion capture the same from seed to seed? Five fits of identica against five of FastICA.

python benchmarks/mocap.py [--components 3 4 6 8 10] [--jobs 2] [--json FILE]

Joint positions of all clips in the folder mocap/ of the one that IDENTICA_DATA names. identica has its defaults, a lag
and the unbounded space; FastICA has the same frames. A line is the same as

identica consistency CLIPS --lag 12 --n-components 4 --space unbounded
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from identica import ContrastiveICA, consistency
from identica._checks import InputError
from identica._files import replacing
from identica._machine import describe_machine
from identica.datafiles import read_dataset
from identica.validation import Consistency

LAG = 12  # a tenth of a second
SEEDS = 5


def estimators(components: int) -> dict[str, ContrastiveICA | FastICA]:
    return {
        "identica": ContrastiveICA(components, space="unbounded", lag=LAG),
        "FastICA": FastICA(components, whiten="unit-variance", max_iter=2000),
    }


def compare(components: int, clips: Path, jobs: int) -> dict[str, tuple[Consistency, float]]:
    data, found = read_dataset(clips), {}
    for name, estimator in estimators(components).items():
        started = time.monotonic()
        trials = {"trials": data.trials} if name == "identica" else {}
        side_by_side = jobs if name == "identica" else 1  # FastICA takes a second, and warns from every process
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            runs = consistency(estimator, data.observations, seeds=SEEDS, n_jobs=side_by_side, **trials)
        found[name] = runs, time.monotonic() - started
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--components", type=int, nargs="+", default=[3, 4, 6, 8, 10])
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if "IDENTICA_DATA" not in os.environ:
        raise InputError("IDENTICA_DATA must name the folder that has mocap/")
    clips = Path(os.environ["IDENTICA_DATA"]) / "mocap"
    print(
        "| components | identica | by component | seconds | FastICA | by component | seconds |\n" + "| --- " * 7 + "|"
    )
    results = []
    for components in options.components:
        line = [str(components)]
        for name, (runs, seconds) in compare(components, clips, options.jobs).items():
            summary = runs.summary()
            line += [f"{summary['mcc']:.1f}", " ".join(f"{v:.0f}" for v in summary["per_component"]), f"{seconds:.0f}"]
            results.append({"method": name, "components": components, "seconds": round(seconds, 1), **summary})
        print("| " + " | ".join(line) + " |", flush=True)
    if options.json is not None:
        with replacing(options.json) as path:
            content = {"machine": describe_machine(), "lag": LAG, "results": results}
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
