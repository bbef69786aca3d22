"""Make a recording to try identica on: time, trial and twelve channels that mix four hidden signals.

python examples/make_recording.py [--out .] [--trials 20] [--rows 600] [--seed 0]

`recording.csv` is what a user would have. `signals.csv` holds the truth, which no fit reads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

SIGNALS, CHANNELS, RATE = 4, 12, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rows", type=int, default=600, help="of a trial")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    signals = np.empty((options.trials, options.rows, SIGNALS))
    signals[:, 0] = random.uniform(size=(options.trials, SIGNALS))
    for t in range(1, options.rows):
        moved = signals[:, t - 1] + random.laplace(scale=0.1, size=(options.trials, SIGNALS))
        signals[:, t] = np.abs((moved + 1) % 2 - 1)  # reflected at 0 and at 1
    rows = signals.reshape(-1, SIGNALS)
    hidden = np.tanh(1.5 * (rows - 0.5) @ random.normal(size=(SIGNALS, 8)))
    channels = hidden @ random.normal(size=(8, CHANNELS)) + 0.01 * random.normal(size=(len(rows), CHANNELS))
    table = {
        "time": np.tile(np.arange(options.rows) / RATE, options.trials),
        "trial": np.repeat(np.arange(options.trials) + 1, options.rows),
    }
    table |= {f"channel{place + 1}": channels[:, place].round(5) for place in range(CHANNELS)}
    options.out.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(table).to_csv(options.out / "recording.csv", index=False)
    names = [f"s{place + 1}" for place in range(SIGNALS)]
    pd.DataFrame(rows.round(5), columns=names).to_csv(options.out / "signals.csv", index=False)


if __name__ == "__main__":
    main()
