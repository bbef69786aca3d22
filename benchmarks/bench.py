"""All benchmarks in one run: a table with pass or fail, results as JSON, growth as a picture.

python benchmarks/bench.py [--out docs/benchmarks]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import loss
import measure

STEP_LIMITS = {"dot": 1.5, "1": 1.8, "2": 1.8, "3": 2.5}
SPEED_UPS = {"1": 3.0, "3": 8.0}
DOUBLED = (8192, 16384)
COLORS = {"dot": "C0", "1": "C1", "2": "C2", "3": "C3"}
RANGES = {"4 ± 20 %": (3.2, 4.8), "2 ± 20 %": (1.6, 2.4)}


class Check(NamedTuple):
    """A measured number and what it must be."""

    what: str
    value: float
    wanted: str
    passed: bool


def at_most(what: str, value: float, limit: float, unit: str = "") -> Check:
    return Check(what, value, f"≤ {limit:g}{unit}", value <= limit)


def at_least(what: str, value: float, limit: float) -> Check:
    return Check(what, value, f"≥ {limit:g} ×", value >= limit)


def within(what: str, value: float, wanted: str) -> Check:
    low, high = RANGES[wanted]
    return Check(what, value, wanted, low <= value <= high)


def checks(results: dict[str, Any]) -> Iterator[Check]:
    step = results["step"]
    for name, limit in STEP_LIMITS.items():
        yield at_most(f"step / bare encoder, {_named(name)}", step["ratio_to_encoder"][name], limit)
        parts = step["seconds"][name]
        yield at_most(f"sampling / step, {_named(name)}", parts["sampling"] / parts["step"], 0.05)
    yield at_most("peak memory of a step", step["peak_mb"], 900, " MB")
    for name, sizes in results["growth"].items():
        small, large = (sizes[str(batch)] for batch in DOUBLED)
        grown = large["seconds"] / small["seconds"]
        yield within(f"loss time, batch {DOUBLED[0]} to {DOUBLED[1]}, {_named(name)}", grown, "4 ± 20 %")
        grown = large["megabytes"] / small["megabytes"]
        yield within(f"loss memory, batch {DOUBLED[0]} to {DOUBLED[1]}, {_named(name)}", grown, "2 ± 20 %")
    yield at_most("loss memory, batch 65536, α = 1", results["growth"]["1"]["65536"]["megabytes"], 2000, " MB")
    for name, limit in SPEED_UPS.items():
        yield at_least(f"faster than the textbook loss, {_named(name)}", results["textbook"][name]["speed_up"], limit)
        fraction = results["textbook"][name]["memory_fraction"]
        yield at_most(f"memory / textbook loss, {_named(name)}", fraction, 0.2)
    yield at_most("a million vMF samples around as many means", results["samplers"]["vmf_million"], 3, " s")
    yield at_most("MCC of 50 factors, 100 000 samples", results["samplers"]["mcc_50_factors_100k"], 2, " s")


def _named(name: str) -> str:
    return "dot product" if name == "dot" else f"α = {name}"


def table(done: list[Check], thresholds: dict[str, Any]) -> str:
    """All checks with pass or fail, and when each row's score crossed the thresholds."""
    width = max(len(check.what) for check in done)
    lines = [
        f"{check.what:<{width}}  {check.value:9.3f}  {check.wanted:>10}  {'pass' if check.passed else 'FAIL'}"
        for check in done
    ]
    for row, reached in thresholds.items():
        steps = ", ".join(f"{threshold} after {seconds:.0f} s" for threshold, seconds in reached["seconds"].items())
        lines.append(f"{row}: {reached['metric'].upper()} {steps}; {reached['final']:.2f} at the end")
    return "\n".join(lines)


def _on(results: dict[str, Any]) -> str:
    machine = results["machine"]
    return f"{machine['processor']}, {machine['cores']} cores, torch {machine['torch']}."


def plot(results: dict[str, Any], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name, sizes in results["growth"].items():
        batches = [int(batch) for batch in sizes]
        panels[0].loglog(batches, [size["seconds"] for size in sizes.values()], "o-", color=COLORS[name])
        panels[1].loglog(batches, [size["megabytes"] for size in sizes.values()], "o-", color=COLORS[name])
    for name, sizes in results["dimension"].items():
        dims = [int(dim) for dim in sizes]
        panels[2].loglog(dims, list(sizes.values()), "o-", color=COLORS[name], label=_named(name))
    titles = ("loss and gradient, seconds", "memory of the loss, MB", "seconds, batch 4096")
    for panel, title, label in zip(
        panels, titles, ("batch = negatives", "batch = negatives", "dimension"), strict=True
    ):
        panel.set_title(title)
        panel.set_xlabel(label)
        panel.grid(alpha=0.3)
    panels[2].legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {"machine": measure.machine()}
    parts = {
        "step": lambda: measure.in_child("step.py", "--json"),
        "growth": loss.growth,
        "dimension": loss.dimension,
        "textbook": loss.textbook,
        "samplers": lambda: measure.in_child("samplers.py"),
        "thresholds": lambda: measure.in_child("thresholds.py", "--steps", "1500"),
    }
    for name, part in parts.items():
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        results[name] = part()
    done = list(checks(results))
    results["checks"] = [check._asdict() for check in done]
    (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    plot(results, arguments.out / "growth.png")
    text = table(done, results["thresholds"])
    print(text)
    (arguments.out / "results.md").write_text(f"# Results of `make bench`\n\n{_on(results)}\n\n```\n{text}\n```\n")
    sys.exit(0 if all(check.passed for check in done) else 1)


if __name__ == "__main__":
    main()
