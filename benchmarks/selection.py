"""Does `identica.select` name the true assumption? Synthetic pairs, drawn over space × conditional, as a table.

python benchmarks/selection.py [--cases 10] [--seeds 0 …] [--pairs 20000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from torch import Generator

from identica._checks import at_least_one
from identica._files import replacing
from identica._machine import describe_machine
from identica.laws import (
    Conditional,
    GeneralizedNormal,
    Laplace,
    Law,
    Marginal,
    Normal,
    Uniform,
    VonMisesFisher,
    Width,
)
from identica.sources import Layers, SyntheticPairs
from identica.spaces import Box, Real, Space, Sphere
from identica.validation import CANDIDATES, select


@dataclass(frozen=True)
class Case:
    """A process whose assumption is known."""

    truth: tuple[str, str]
    space: Space
    marginal: Law
    conditional: Law

    def __str__(self) -> str:
        return f"{self.truth[0]} N={self.space.dim}, {self.marginal}, {self.conditional}"


def draw_cases(count: int, seed: int) -> list[Case]:
    """All assumptions in turn, in random order, with random dimension and widths."""
    generator = np.random.default_rng(seed)
    order = [generator.permutation(len(CANDIDATES)) for _ in range(-(-count // len(CANDIDATES)))]
    return [draw_case(CANDIDATES[index], generator) for index in np.concatenate(order)[:count]]


def draw_case(truth: tuple[str, str], generator: np.random.Generator) -> Case:
    space, conditional = truth
    dim = int(generator.integers(3, 9))
    if space == "sphere":
        return Case(truth, Sphere(dim), Uniform(), VonMisesFisher(round(float(generator.uniform(10, 50)), 1)))
    width = draw_width(dim, generator)
    if space == "unbounded":
        # As narrow, against the marginal's deviation, as the other is against the width of the box.
        width = tuple(round(3 * one, 3) for one in width) if isinstance(width, tuple) else round(3 * width, 3)
    laws = {"laplace": Laplace(width), "normal": Normal(width), "gennorm(beta=3)": GeneralizedNormal(3.0, width)}
    if space == "box":
        return Case(truth, Box(dim), Uniform(), laws[conditional])
    marginal = (Normal(1.0), Laplace(1.0))[int(generator.integers(2))]
    return Case(truth, Real(dim), marginal, laws[conditional])


def draw_width(dim: int, generator: np.random.Generator) -> Width:
    """One width for all factors, or as often one for each, over a range of four."""
    if generator.integers(2):
        return round(float(generator.uniform(0.05, 0.1)), 3)
    return tuple(round(float(width), 3) for width in generator.permutation(np.geomspace(0.035, 0.14, dim)))


def draw_pairs(case: Case, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = Generator().manual_seed(seed)
    mixing = Layers().draw(case.space.dim, generator=generator)
    marginal, conditional = Marginal(case.space, case.marginal), Conditional(case.space, case.conditional)
    first, second = SyntheticPairs(marginal, conditional, mixing).pairs(count, generator)
    return first.numpy(), second.numpy()


def judge(case: Case, pairs: int, seed: int, jobs: int) -> dict[str, Any]:
    """What `select` says of a case."""
    started = time.monotonic()
    found = select(*draw_pairs(case, pairs, seed), n_jobs=jobs)
    seconds = time.monotonic() - started
    first, second = found.candidates[:2]
    right = next(one for one in found.candidates if (one.model.space.name, one.model.conditional) == case.truth)
    return {
        "case": str(case),
        "right": right is first,
        "chosen": str(first.model),
        "second": str(second.model),
        "ahead": round(second.behind[0] - first.behind[0], 4),
        "truth_ahead": round(first.behind[0] - right.behind[0], 4),
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        **found.summary(),
    }


def summary(results: Sequence[dict[str, Any]]) -> str:
    """How often each assumption was named, how long it took, and what was wrong, with its bits."""
    lines = ["| truth | right | seconds, median (most) |", "| --- | --- | --- |"]
    for truth in CANDIDATES:
        ours = [one for one in results if tuple(one["truth"]) == truth]
        if ours:
            seconds = [one["seconds"] for one in ours]
            right = sum(one["right"] for one in ours)
            lines.append(
                f"| {', '.join(truth)} | {right} of {len(ours)} | {median(seconds):.0f} ({max(seconds):.0f}) |"
            )
    lines += ["", f"{sum(one['right'] for one in results)} of {len(results)} right"]
    for one in results:
        if not one["right"]:
            lines.append(f"- {one['case']}: called {one['chosen']}, {-one['truth_ahead']:.3f} bits before the truth")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10, help="of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--json", type=Path, help="what is there already is not run again")
    options = parser.parse_args()
    at_least_one("--cases", options.cases)
    older = options.json is not None and options.json.exists()
    results = json.loads(options.json.read_text(encoding="utf-8"))["results"] if older else []
    done = {(one["seed"], one["case_number"]) for one in results}
    for seed in options.seeds:
        for number, case in enumerate(draw_cases(options.cases, seed)):
            if (seed, number) in done:
                continue
            found = judge(case, options.pairs, 1000 * seed + number, options.jobs)
            results.append(found | {"seed": seed, "case_number": number, "truth": case.truth})
            if options.json is not None:
                with replacing(options.json) as path:
                    content = {"pairs": options.pairs, "results": results}
                    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            print(f"{case}: {found['chosen']}, {'right' if found['right'] else 'wrong'}", file=sys.stderr, flush=True)
    print("| case | chosen | right | second | bits ahead | seconds |\n| --- | --- | --- | --- | --- | --- |")
    for one in results:
        print(
            f"| {one['case']} | {one['chosen']} | {'yes' if one['right'] else 'no'} | {one['second']} "
            f"| {one['ahead']:.3f} | {one['seconds']:.0f} |"
        )
    print(f"\n{summary(results)}")


if __name__ == "__main__":
    main()
