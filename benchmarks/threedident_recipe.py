"""3DIdent: does each part of the protocol earn its place? Bits of pairs and scores, with and without it.

python benchmarks/threedident_recipe.py [--parts 1 2] [--steps 600] [--seed 0] [--workers 2] [--store STORE]

Every part of row t4-01 is replaced alone, on as many pictures in all, into a resumable store. Bits are those of 512
pairs: they need no factors. R² and MCC are of the test pictures. Two parts are the pairs and models of the rows on a
sphere, which the network of t4-01 learns in as many steps. Two more lines, `--parts 11 12`, have partners that were
rendered (docs/3dident-learning.md says how their folder is made) and the large network, whose steps take far longer.
Other numbers of pictures, or of pixels, are other folders: name them by IDENTICA_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from identica import _checks
from identica.experiments import Run, RunStore, find_rows
from identica.experiments.store import Record
from identica.models import Model
from identica.recipes import wide_codes
from identica.spaces import Box
from image_recipe import Key, bits
from recipe import Part, compute

ROW = "t4-01"

PARTS = (
    Part("fast"),
    Part("strangers drawn by chance", contrastive={"neighbours": 0}),
    Part("anchors alone ask, among anchors", contrastive={"in_batch": "anchors"}),
    Part("64 pairs in a batch, drawn by chance", contrastive={"neighbours": 0}, training={"batch_size": 64}),
    Part("Adam at 1e-3", training={"learning_rate": 1e-3}),
    Part("ten codes from the first step on", recipe={"wide": None}),
    Part("one look", encoder={"network": "light"}),
    Part("ten codes from the first step on, on a sphere", recipe={"wide": None}),
    Part("ten codes from the first step on, on a sphere, augmentations", recipe={"wide": None}),
    Part("one start from the wide codes", recipe={"wide": replace(wide_codes(24, Model(Box(10), "normal")), starts=1)}),
    Part("partners that were rendered"),
    Part("ResNet-18", encoder={"network": "resnet"}),
)
OTHER_ROWS = {8: "t4-04", 9: "t4-05"}
RENDERED = 11


def plan(numbers: Sequence[int], steps: int, seed: int = 0) -> dict[Key, Run]:
    """The runs of the table, by row and part."""
    (first,) = find_rows([ROW])
    runs = {}
    for number in numbers:
        part = PARTS[number - 1]
        (row,) = find_rows([OTHER_ROWS.get(number, ROW)])
        run = replace(row, fast=first.fast).run(seed)
        source = row.source.rendered() if number == RENDERED else row.source
        recipe = part.changed(run.recipe)
        recipe = recipe.with_steps(steps * run.recipe.training.batch_size // recipe.training.batch_size)
        runs[ROW, part.name] = replace(run, source=source.available(), recipe=recipe)
    return runs


def markdown(results: dict[Key, Record | str]) -> str:
    """A table with a line for each part."""
    lines = ["| in its place | bits | R² | MCC | position, spotlight and hues, R² | rotations, R² | minutes |"]
    lines.append("| --- |" + " --- |" * 6)
    for (_, name), record in results.items():
        if isinstance(record, str):
            lines.append(f"| {name} | {record} | | | | | |")
            continue
        scores = record["scores"]
        each = scores["r2"]["per_factor"]
        rotations, others = each[3:6], each[:3] + each[6:]
        shown = [
            f"{bits(record):.2f}",
            *(f"{scores[score]['value']:.1f}" for score in ("r2", "mcc")),
            f"{sum(others) / len(others):.1f}",
            f"{sum(rotations) / len(rotations):.1f}",
            f"{record['seconds'] / 60:.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, nargs="+", default=range(1, RENDERED))
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, default=Path("runs/3dident-recipe"))
    options = parser.parse_args()
    for name in ("steps", "workers"):
        _checks.at_least_one(f"--{name}", getattr(options, name))
    if not all(1 <= number <= len(PARTS) for number in options.parts):
        parser.error(f"--parts must be numbers from 1 to {len(PARTS)}, got {options.parts}")
    runs = plan(options.parts, options.steps, _checks.seed("--seed", options.seed))
    print(markdown(compute(runs, RunStore(options.store), options.workers)))


if __name__ == "__main__":
    main()
