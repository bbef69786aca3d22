"""Factors of different width and speed, and more codes than factors: what `ContrastiveICA` recovers by its defaults.

python benchmarks/widths.py [--only NAME …] [--widths free equal] [--seed 0] [--jobs 2] [--out docs/widths]

Every case is given as arrays, as a user would have them. Data and mixing come from the seed; `--widths equal` fits the
same cases with one width for all components, for comparison. Each fit has one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from identica import ContrastiveICA
from identica._files import replacing
from identica._machine import describe_machine
from identica.laws import Conditional, Laplace, Law, Marginal, Normal, PerFactor, Uniform
from identica.metrics import linear_r2, mcc
from identica.sources import Layers
from identica.spaces import Box, Real, Space, Sphere

PAIRS = 50_000
SCORED = 10_000
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Data with known factors, and the settings that a user would give.

    Args:
        name: What the table calls it.
        make: From a generator to the factors of anchors and of their partners.
        settings: Of `ContrastiveICA`.
        widths: True widths in units of a code: of the range of a box, or of the deviation of a factor.
        observed: Number of channels; as many as factors if not given.
    """

    name: str
    make: Callable[[torch.Generator], tuple[torch.Tensor, torch.Tensor]]
    settings: dict[str, Any]
    widths: tuple[float, ...] | None = None
    observed: int | None = None


def drawn(
    space: Space, law: Law, marginal: Law | None = None, count: int = PAIRS
) -> Callable[[torch.Generator], tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of a space and two laws."""

    def make(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        anchors = Marginal(space, marginal or Uniform()).sample(count, generator)
        return anchors, Conditional(space, law).sample(anchors, generator)

    return make


def series(times: tuple[float, ...]) -> Callable[[torch.Generator], tuple[torch.Tensor, torch.Tensor]]:
    """Neighbours in AR(1) series with Laplace innovations and unit variance, one time constant for each factor."""

    def make(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        keep = np.exp(-1 / np.array(times))
        seed = int(torch.randint(2**31, (), generator=generator))
        noise = np.random.default_rng(seed).laplace(scale=np.sqrt((1 - keep**2) / 2), size=(PAIRS + 1, len(times)))
        values = np.zeros_like(noise)
        for step in range(1, len(noise)):
            values[step] = keep * values[step - 1] + noise[step]
        tensor = torch.from_numpy(values).float()
        return tensor[:-1], tensor[1:]

    return make


def spread(low: float, high: float, count: int) -> tuple[float, ...]:
    """Widths at equal ratios."""
    return tuple(float(f"{value:.6g}") for value in np.geomspace(low, high, count))


def cases() -> list[Case]:
    found = []
    for low, high in ((0.08, 0.08), (0.04, 0.16), (0.02, 0.32)):
        widths, noise = spread(low, high, 5), f"noise {low:g} to {high:g}" if low != high else f"noise {low:g}"
        make = drawn(Box(5), Laplace(widths))
        found.append(Case(f"five factors, {noise}, box", make, {"n_components": 5}, widths))
        in_deviations = tuple(width * 12**0.5 for width in widths)
        settings = {"n_components": 5, "space": "unbounded"}
        found.append(Case(f"five factors, {noise}, unbounded", make, settings, in_deviations))
    for times in ((20.0,) * 5, (5.0, 10.0, 20.0, 40.0, 80.0)):
        named = "20" if len(set(times)) == 1 else "5 to 80"
        settings = {"n_components": 5, "space": "unbounded"}
        found.append(Case(f"AR(1), time constants {named}", series(times), settings))
    for codes in (3, 6, 10):
        for space in ("box", "unbounded"):
            make = drawn(Box(3), Laplace(0.08))
            settings = {"n_components": codes, "space": space}
            found.append(Case(f"three factors in 12 channels, {codes} codes, {space}", make, settings, observed=12))
    # exp(-Σ Λ_k (u_k - v_k)²), with Λ from 2 to 50
    ten = drawn(Sphere(10), Normal(tuple(1 / (2 * value) ** 0.5 for value in spread(2, 50, 10))), count=4 * PAIRS)
    settings = {"n_components": 10, "space": "sphere", "conditional": "normal"}
    for axes in ("learnt", "second-order"):
        found.append(Case(f"ten factors on a sphere, Λ over 25 ×, {axes} axes", ten, settings | {"axes": axes}))
    wide = spread(0.1, 2.5, 10)
    ten = drawn(Real(10), Laplace(wide), Normal(1.0), 2 * PAIRS)
    found.append(Case("ten factors, widths over 25 ×", ten, {"n_components": 10, "space": "unbounded"}, wide))
    mixed = PerFactor((Laplace(0.05), Laplace(0.2), Normal(0.05), Normal(0.2), Laplace(0.1)))
    found.append(Case("Laplace and normal factors, box", drawn(Box(5), mixed), {"n_components": 5}))
    normal = spread(0.1, 1.6, 5)
    settings = {"n_components": 5, "space": "unbounded", "conditional": "normal"}
    for axes in ("learnt", "second-order"):
        make = drawn(Real(5), Normal(normal), Normal(1.0))
        found.append(Case(f"normal noise over 16 ×, {axes} axes", make, settings | {"axes": axes}, normal))
    sphere = drawn(Sphere(5), Normal(spread(0.1, 0.5, 5)))
    settings = {"n_components": 5, "space": "sphere", "conditional": "normal"}
    found.append(Case("sphere, normal noise over 5 ×", sphere, settings))
    return found


def measure(case: Case, seed: int, widths: str) -> dict[str, Any]:
    """Fit a case, and score it."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(seed)
    anchors, partners = case.make(generator)
    mixing = Layers().draw(anchors.shape[1], case.observed, generator=generator)
    x, x_pos = (mixing(values).numpy() for values in (anchors, partners))
    started = time.monotonic()
    fitted = ContrastiveICA(**case.settings, widths=widths, random_state=seed).fit(x, x_pos)
    seconds = time.monotonic() - started
    truth, codes = anchors[:SCORED].numpy(), fitted.transform(x[:SCORED])
    matched = mcc(truth, codes)
    assert matched.assignment is not None
    ours = fitted.widths_[list(matched.assignment)]
    error = None if case.widths is None else float(np.abs(ours / np.array(case.widths) - 1).max())
    return {
        "case": case.name,
        "widths": widths,
        "mcc": round(100 * matched.value, 2),
        "r2": round(100 * linear_r2(truth, codes).value, 2),
        "widths_found": [float(f"{width:.3g}") if np.isfinite(width) else None for width in ours],
        "width_error": None if error is None or not np.isfinite(error) else round(100 * error, 1),
        "components_used": len(fitted.components_used_),
        "codes": fitted.n_components_,
        "seconds": round(seconds, 1),
    }


def markdown(results: list[dict[str, Any]]) -> str:
    """A line a case: free widths, and equal ones where they were fitted."""
    found = {(result["case"], result["widths"]): result for result in results}
    lines = [
        "| case | MCC, free widths | MCC, equal | R², free | largest error of widths, % | codes used | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in dict.fromkeys(result["case"] for result in results):
        free, equal = found.get((name, "free")), found.get((name, "equal"))
        if free is None:
            continue
        error = "–" if free["width_error"] is None else f"{free['width_error']:.1f}"
        before = "–" if equal is None else f"{equal['mcc']:.2f}"
        used = f"{free['components_used']} of {free['codes']}"
        lines.append(
            f"| {name} | {free['mcc']:.2f} | {before} | {free['r2']:.2f} | {error} | {used} | {free['seconds']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="parts of the names of cases")
    parser.add_argument("--widths", nargs="+", default=["free"], choices=["free", "equal"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/widths"))
    options = parser.parse_args()
    from joblib import Parallel, delayed

    chosen = [case for case in cases() if not options.only or any(part in case.name for part in options.only)]
    results = Parallel(n_jobs=options.jobs)(
        delayed(measure)(case, options.seed, widths) for widths in options.widths for case in chosen
    )
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "results.json"
    older = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    done = {(result["case"], result["widths"]): result for result in [*older, *results]}
    order = [case.name for case in cases()]
    merged = sorted(done.values(), key=lambda result: (order.index(result["case"]), result["widths"]))
    with replacing(path) as unfinished:
        content = {"machine": describe_machine(), "seed": options.seed, "results": merged}
        unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with replacing(options.out / "table.md") as unfinished:
        unfinished.write_text(markdown(merged) + "\n", encoding="utf-8")
    print(markdown(merged))


if __name__ == "__main__":
    main()
