"""Does each part of the protocol for images earn its place? Bits of pairs, with and without it.

python benchmarks/image_recipe.py [--rows t3-02 w2-n1] [--parts 1 4] [--seeds 2] [--steps 1000] [--store STORE]

Every part is replaced alone, two runs at a time, into a resumable store. Bits need no factors: those of people that are
held out (masks), or of pairs drawn anew (sprites, which have pairs without end). `--parts` takes the numbers of some,
counted from 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from identica._checks import at_least_one
from identica.experiments import Run, RunStore, find_rows
from identica.experiments.store import Record
from recipe import Part, compute

ROWS_OF_THE_PAGE = ("t3-02", "w2-n1")
WHOLE = "fast"

PARTS = (
    Part(WHOLE),
    Part("a last layer that begins at random", encoder={"slow_start": 0.0}),
    Part(
        "weight 1 for the anchor in all batches, as in the released code",
        contrastive={"anchor_weight": 1.0, "easy_anchor_weight": 0.0},
    ),
    Part("weight 0.01 in all batches", contrastive={"easy_anchor_weight": 0.0}),
    Part("no anchor, as in Eq. 1", contrastive={"anchor_weight": 0.0, "easy_anchor_weight": 0.0}),
    Part("Adam at 1e-3", training={"learning_rate": 1e-3, "bias_learning_rate": 1e-3}),
    Part("Adam at 4e-3", training={"learning_rate": 4e-3, "bias_learning_rate": 4e-3}),
    Part("256 pairs in a step, a quarter of the steps", training={"batch_size": 256}),
    Part("no folding: the paper's network", encoder={"fold": 1}),
)

Key = tuple[str, str]


def plan(rows: Sequence[str], parts: Sequence[Part], seeds: int, steps: int) -> dict[Key, Run]:
    """The runs of the table, by row and by part and seed."""
    runs = {}
    for row in find_rows(rows):
        for part in parts:
            for seed in range(seeds):
                run, whole = row.run(seed), row.learner.image_recipe("fast")
                recipe = part.changed(whole)
                # As many images for all.
                recipe = recipe.with_steps(steps * whole.training.batch_size // recipe.training.batch_size)
                runs[row.id, f"{part.name} {seed}"] = replace(run, source=run.source.available(), recipe=recipe)
    return runs


def bits(record: Record) -> float:
    """Of pairs that are held out, where some are; at the last step."""
    last = record["curve"][-1]
    return float(last.get("held_out_bits", last["fitted_bits"]))


def markdown(results: dict[Key, Record | str], rows: Sequence[str], parts: Sequence[Part], seeds: int) -> str:
    """A table with a line for each part: mean bits and, in brackets, those of each seed; MCC beside them."""
    heads = " | ".join(f"{row}, bits | MCC" for row in rows)
    lines = [f"| in its place | {heads} |", "| --- |" + " --- | --- |" * len(rows)]
    for part in parts:
        cells = []
        for row in rows:
            found = [results[row, f"{part.name} {seed}"] for seed in range(seeds)]
            if any(isinstance(one, str) for one in found):
                cells.append("diverged | –")
                continue
            ours = [bits(one) for one in found if not isinstance(one, str)]
            scores = [one["scores"]["mcc_spearman"]["value"] for one in found if not isinstance(one, str)]
            cells.append(f"{mean(ours):.2f} ({', '.join(f'{one:.2f}' for one in ours)}) | {mean(scores):.1f}")
        lines.append(f"| {part.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=ROWS_OF_THE_PAGE)
    parser.add_argument("--parts", type=int, nargs="+", default=range(1, len(PARTS) + 1))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("runs/image-recipe"))
    options = parser.parse_args()
    for name in ("seeds", "steps", "workers"):
        at_least_one(f"--{name}", getattr(options, name))
    if not all(1 <= number <= len(PARTS) for number in options.parts):
        parser.error(f"--parts must be numbers from 1 to {len(PARTS)}, got {options.parts}")
    parts = [PARTS[number - 1] for number in options.parts]
    runs = plan(options.rows, parts, options.seeds, options.steps)
    results = compute(runs, RunStore(options.store), options.workers)
    print(markdown(results, options.rows, parts, options.seeds))


if __name__ == "__main__":
    main()
