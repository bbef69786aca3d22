"""All scores on reference codes, and how long they take.

python benchmarks/metrics.py [--seed 0] [--out docs/metrics]

Reference codes are made from three factors of six values each, so that what every score sees and misses can be worked
out. Times are those of 10 000 samples of 10 codes and five factors of 3, 6, 40, 32 and 32 values. Prints the tables as
markdown and writes them with all numbers to a folder.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._files import replacing
from identica._machine import describe_machine
from identica.metrics import SCORES, Scorer, symbol

Array = NDArray[np.float64]

SIZES, SAMPLES = (6, 6, 6), 2_000
TIMED_SIZES, TIMED_SAMPLES, TIMED_CODES = (3, 6, 40, 32, 32), 10_000, 10


def draw(sizes: tuple[int, ...], samples: int, generator: np.random.Generator) -> Array:
    return np.stack([generator.integers(0, size, samples) for size in sizes], axis=1).astype(float)


def reference_codes(z: Array, generator: np.random.Generator) -> dict[str, Array]:
    """Codes by what the page calls them."""
    half = np.sqrt(0.5)
    turn = np.array([[half, half, 0], [-half, half, 0], [0, 0, 1]])
    return {
        "perfect": z,
        "permuted, rescaled": z[:, [2, 0, 1]] * [-2.0, 0.5, 3.0] + 1,
        "two of three turned by 45°": z @ turn,
        "one code for two factors": np.column_stack([z[:, 0] + 6 * z[:, 1], z[:, 2]]),
        "one factor in two codes": np.column_stack([z, z[:, 0] ** 2]),
        "three dead codes more": np.column_stack([z, np.ones((len(z), 3))]),
        "noise": generator.normal(size=z.shape),
    }


def score_all(z: Array, codes: Array) -> dict[str, dict[str, float]]:
    """Every score in percent, with its chance level and its seconds: on the clock, and of one core."""
    scorer, found = Scorer(z, codes), {}
    for name in SCORES:
        started, worked = time.monotonic(), time.process_time()
        score = scorer.score(name)
        found[name] = {
            "value": round(100 * score.value, 1),
            "chance": round(100 * score.chance, 1),
            "seconds": round(time.monotonic() - started, 2),
            "core_seconds": round(time.process_time() - worked, 2),
        }
    return found


def table_of_codes(results: dict[str, dict[str, Any]]) -> str:
    lines = [
        f"| score, % | {' | '.join(results)} | random codes |",
        "| --- |" + " ---: |" * (len(results) + 1),
    ]
    for name in SCORES:
        cells = [f"{100 if scores[name]['value'] == 100 else scores[name]['value']}" for scores in results.values()]
        lines.append(f"| {symbol(name)} | {' | '.join(cells)} | {results['perfect'][name]['chance']} |")
    return "\n".join(lines)


def table_of_times(timed: dict[str, dict[str, float]]) -> str:
    """A line a score; DCI's three parts share their trees."""
    shown = [name for name in timed if not name.startswith("dci_")]
    lines = ["| score | seconds of one core | seconds on the clock |", "| --- | ---: | ---: |"]
    for name in shown:
        label = "DCI, all three" if name == "dci" else symbol(name)
        lines.append(f"| {label} | {timed[name]['core_seconds']:.1f} | {timed[name]['seconds']:.1f} |")
    total = [sum(one[key] for one in timed.values()) for key in ("core_seconds", "seconds")]
    return "\n".join([*lines, f"| all | {total[0]:.1f} | {total[1]:.1f} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("docs/metrics"))
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    z = draw(SIZES, SAMPLES, generator)
    results = {name: score_all(z, codes) for name, codes in reference_codes(z, generator).items()}
    factors = draw(TIMED_SIZES, TIMED_SAMPLES, generator)
    spare = generator.normal(size=(TIMED_SAMPLES, TIMED_CODES - len(TIMED_SIZES)))
    noisy = factors / TIMED_SIZES + 0.02 * generator.normal(size=factors.shape)
    timed = score_all(factors, np.hstack([noisy, spare]))
    options.out.mkdir(parents=True, exist_ok=True)
    text = f"{table_of_codes(results)}\n\n{table_of_times(timed)}\n"
    content = {"machine": describe_machine(), "seed": options.seed, "codes": results, "times": timed}
    with replacing(options.out / "results.json") as unfinished:
        unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with replacing(options.out / "table.md") as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
