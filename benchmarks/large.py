"""Fit an array that is larger than memory: a sparse file, of which a twentieth holds signals and the rest zeros.

python benchmarks/large.py [--gigabytes 20] [--seconds 60] [--folder FOLDER] [--json]

The file takes a gigabyte of the disk, and is removed afterwards. Reported are the largest resident size of the command
and the time it took; the limits are 2 GB, and twice the budget of seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CHANNELS, SIGNALS, PATCHES, PART = 50, 4, 512, 0.05
MOST_GB = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", type=Path, help="for the file; a temporary one if not given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        path = Path(name) / "x.npy"
        make(path, int(options.gigabytes * 1e9 / (4 * CHANNELS)))
        found = fit(path, options.seconds)
    if options.json:
        print(json.dumps(found))
        return
    print(f"{found['gigabytes']:.1f} GB in the file, {found['on_disk']:.1f} on disk")
    print(f"{found['resident']:.2f} GB resident at most (limit {MOST_GB:.0f}), {found['seconds']:.0f} s")
    print("pass" if found["resident"] < MOST_GB else "fail")


def make(path: Path, rows: int) -> None:
    """Write a sparse file: patches of a series, and nothing between them."""
    random = np.random.default_rng(0)
    length = max(100, int(rows * PART / PATCHES))
    steps = random.laplace(scale=0.1, size=(length, SIGNALS))
    signals = np.abs((np.cumsum(steps, axis=0) + 1) % 2 - 1)
    mixing = random.normal(size=(SIGNALS, CHANNELS))
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, CHANNELS))
    for start in np.linspace(0, rows - length, PATCHES).astype(int):
        order = random.permutation(SIGNALS)  # no two patches alike
        array[start : start + length] = np.tanh(signals[:, order] @ mixing)
    array.flush()


def fit(path: Path, seconds: float) -> dict[str, float]:
    """Run the command line on it, and measure."""
    words = ["fit", str(path), "--lag", "1", "--n-components", str(SIGNALS), "--max-seconds", str(seconds)]
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "identica", *words, "--out", str(path.with_name("model"))], check=True)
    return {
        "gigabytes": path.stat().st_size / 1e9,
        "on_disk": path.stat().st_blocks * 512 / 1e9,
        "resident": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9,
        "seconds": time.monotonic() - started,
    }


if __name__ == "__main__":
    main()
