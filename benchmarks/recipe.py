"""Does each part of the fast protocol earn its place? Score against seconds, with and without it, and row by row.

python benchmarks/recipe.py [--rows t1-05 t2-01 …] [--parts 1 4] [--steps 2000] [--out docs/recipe] [--store STORE]

Every part is taken out (or replaced by what it replaced) alone, two runs at a time, into a resumable store. `--parts`
takes the numbers of some, counted from 1.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from identica._checks import at_least_one
from identica._files import replacing
from identica._machine import describe_machine
from identica._progress import progress_bars
from identica.experiments import ROWS, LocalEngine, Run, RunStore, find_rows, rows_of_record, rows_of_table
from identica.experiments.store import Record
from identica.metrics import symbol
from identica.recipes import Recipe

ROWS_OF_THE_PAGE = ("t1-01", "t1-05", "t1-12", "t2-01", "t2-02", "t2-05", "t2-10")
WHOLE = "fast"
_COLORS = 10
SHORTFALL = 0.3
MOST_ALIGNED = 75.0


@dataclass(frozen=True)
class Part:
    """What is put in the place of a part of the recipe: other fields of it, or of its loss, encoder or training."""

    name: str
    contrastive: dict[str, Any] = field(default_factory=dict)
    encoder: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)
    spaces: tuple[str, ...] = ("sphere", "box", "unbounded")

    def changed(self, recipe: Recipe) -> Recipe:
        """The recipe without this part."""
        assert recipe.contrastive is not None
        return replace(
            recipe,
            contrastive=replace(recipe.contrastive, **self.contrastive),
            encoder=replace(recipe.encoder, **self.encoder),
            training=replace(recipe.training, **self.training),
            **self.recipe,
        )


PARTS = (
    Part(WHOLE),
    Part(
        "Eq. 1's denominator, no weight on the anchor",
        contrastive={"positive_in_denominator": True, "anchor_weight": 0.0},
    ),
    Part(
        "sigmoid bounds or raw codes, no moments",
        encoder={"normalise_codes": False},
        spaces=("box", "unbounded"),
    ),
    Part(
        "forwards: which z~ belongs to z, other z as negatives",
        contrastive={"backward": False, "in_batch": "anchors"},
    ),
    Part("α > 2 from the first step", contrastive={"quadratic_until": 0.0}),
    Part("a box whose scale grows as fast as any", training={"scale_learning_rate": 1e-3}, spaces=("box",)),
    Part("no whitening", encoder={"whiten": "no"}),
    Part("whitening with the mean subtracted", encoder={"whiten": "centred"}),
    Part("Adam at 3e-3, no Muon", training={"optimizer": "adam", "learning_rate": 3e-3}),
    Part("five layers of 128, not two of 64", encoder={"widths": (128,) * 5}),
    Part("constant learning rate", training={"cosine": False}),
    *(
        Part(
            f"a learnt width for each code ({space})",
            contrastive={"width_pull": pull},
            encoder={"free_widths": True},
            training={"width_learning_rate": 1e-2},
            spaces=(space,),
        )
        for space, pull in (("box", 0.1), ("unbounded", 0.005))
    ),
)


def plan(
    rows: Sequence[str], steps: int | None, parts: Sequence[Part] = PARTS, seed: int = 0
) -> dict[tuple[str, str], Run]:
    """The runs of the table, by row and part."""
    runs = {}
    for row in find_rows(rows):
        run = row.run(seed, steps=steps)
        for part in parts:
            changed = part.changed(run.recipe)
            if row.learner.code_space.name in part.spaces and (changed != run.recipe or part.name == WHOLE):
                runs[row.id, part.name] = replace(run, recipe=changed)
    return runs


def compute(runs: dict[tuple[str, str], Run], store: RunStore, workers: int) -> dict[tuple[str, str], Record | str]:
    """Records, or the reason why there is none: a part may be what keeps training from diverging."""
    done: dict[str, Record | str] = {}
    every = list(runs.values())
    with progress_bars(every) as listen:
        for outcome in LocalEngine(workers, "cpu").compute(every, store, listen):
            done[outcome.run.name] = outcome.record if outcome.record is not None else str(outcome.error)
    return {key: done[run.name] for key, run in runs.items()}


def metric(row: str) -> str:
    return ROWS[row].score


def score(record: Record, row: str) -> float:
    return float(record["scores"][metric(row)]["value"])


def markdown(results: dict[tuple[str, str], Record | str]) -> str:
    """A table with a line for each part and a column for each row: score, and seconds."""
    rows = list(dict.fromkeys(row for row, _ in results))
    lines = [
        "| in its place | " + " | ".join(f"{row}, {symbol(metric(row))} (s)" for row in rows) + " |",
        "| --- |" + " --- |" * len(rows),
    ]
    for part in (part for part in PARTS if any((row, part.name) in results for row in rows)):
        cells = [cell(results, row, part.name) for row in rows]
        lines.append(f"| {part.name} | " + " | ".join(cells) + " |")
    published = [ROWS[row].reference("unsupervised") for row in rows]
    lines.append("| *paper* | " + " | ".join("–" if one is None else f"{one.mean:.2f}" for one in published) + " |")
    return "\n".join(lines)


def cell(results: dict[tuple[str, str], Record | str], row: str, part: str) -> str:
    found = results.get((row, part))
    if found is None:
        return "–"
    if isinstance(found, str):
        return "diverged"
    text = f"{score(found, row):.2f}"
    return f"{f'**{text}**' if is_worse(row, found, results[row, WHOLE]) else text} ({found['seconds']:.0f})"


def is_worse(row: str, found: Record, whole: Record | str) -> bool:
    """Farther from what the theory says: less of what is identifiable, or alignment where nothing is."""
    published = ROWS[row].reference("unsupervised")
    if published is not None and published.mean < MOST_ALIGNED:
        return score(found, row) > MOST_ALIGNED
    return not isinstance(whole, str) and score(found, row) < score(whole, row) - SHORTFALL


def draw(results: dict[tuple[str, str], Record | str], path: Path) -> None:
    """Distance to a perfect score against seconds, a panel for each row and a line for each part."""
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(row for row, _ in results))
    figure = Figure(figsize=(4.2 * len(rows) / 2, 7.5), layout="constrained")
    grid = figure.subplots(2, -(-len(rows) // 2), squeeze=False).flat
    for axes, row in zip(grid, rows, strict=False):
        for index, part in enumerate(PARTS):
            found = results.get((row, part.name))
            if found is None or isinstance(found, str):
                continue
            style = {"color": "black", "linewidth": 2.5} if part.name == WHOLE else {"color": f"C{index}"}
            axes.plot(*_curve(found, row), label=part.name, **style)  # type: ignore[arg-type]
        axes.set(yscale="log", xlabel="seconds on one core", ylabel=f"100 - {metric(row).upper()}", title=row)
        published = ROWS[row].reference("unsupervised")
        if published is not None:
            axes.axhline(100 - published.mean, color="grey", linestyle="--", label="paper")
    figure.legend(*next(iter(figure.axes)).get_legend_handles_labels(), loc="outside lower center", ncols=3)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=110)


def draw_rows(records: Sequence[Record], path: Path) -> None:
    """Distance to a perfect score against seconds for each row of stored tables, seed 0."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), layout="constrained")
    panels = dict(zip(("r2", "mcc"), figure.subplots(1, 2), strict=True))
    shown = {row.id: row for table in ("1", "2") for row in rows_of_table(table)}
    first_seed = {row.id: record for record in records if record["seed"] == 0 for row in rows_of_record(record, shown)}
    for row in (row for row in shown if row in first_seed):
        axes = panels[metric(row)]
        dash = "-" if len(axes.lines) < _COLORS else "--"
        axes.plot(*_curve(first_seed[row], row), color=f"C{len(axes.lines) % _COLORS}", linestyle=dash, label=row)
    for name, axes in panels.items():
        axes.set(yscale="log", xlabel="seconds on one core", ylabel=f"100 - {name.upper()}")
        axes.legend(ncols=2, fontsize=8)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=110)


def _curve(record: Record, row: str) -> tuple[list[float], list[float]]:
    seconds = [point["step"] * record["seconds"] / record["steps"] for point in record["curve"]]
    return seconds, [max(100 - point[metric(row)], 1e-2) for point in record["curve"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=ROWS_OF_THE_PAGE)
    parser.add_argument("--parts", type=int, nargs="+", help="numbers of the parts to take out, from 1; all by default")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", type=Path, default=Path("results/tables"), help="records of the rows' curves")
    parser.add_argument("--out", type=Path, default=Path("docs/recipe"))
    parser.add_argument("--store", type=Path, default=Path("runs/recipe"))
    options = parser.parse_args()
    store = RunStore(options.store)
    parts = PARTS if options.parts is None else [PARTS[0], *(PARTS[number] for number in options.parts)]
    runs = plan(options.rows, options.steps, parts, options.seed)
    results = compute(runs, store, at_least_one("--workers", options.workers))
    options.out.mkdir(parents=True, exist_ok=True)
    written = {
        "machine": describe_machine(),
        "results": [
            {"row": row, "part": part, **_small(found)}  # curves and scores, no settings
            for (row, part), found in results.items()
        ],
    }
    with replacing(options.out / "ablation.json") as path:
        path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    with replacing(options.out / "ablation.md") as path:
        path.write_text(markdown(results) + "\n", encoding="utf-8")
    draw(results, options.out / "ablation.png")
    draw_rows(list(RunStore(options.tables).records()), options.out / "rows.png")
    print(markdown(results))


def _small(found: Record | str) -> dict[str, Any]:
    if isinstance(found, str):
        return {"error": found}
    values = {name: found["scores"][name]["value"] for name in ("r2", "mcc")}
    return values | {key: found[key] for key in ("seconds", "steps", "curve")}


if __name__ == "__main__":
    main()
