"""Finite data by defaults: a deep mixing of many pairs, and an easy one of few.

python benchmarks/finite.py [--only NAME …] [--jobs 2] [--out docs/recordings]

Each fit has one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from identica import ContrastiveICA
from identica._files import replacing
from identica._machine import describe_machine
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.metrics import linear_r2, mcc
from identica.sources import Layers
from identica.spaces import Box


def mixture(layers: int, dim: int, pairs: int, seed: int = 0) -> dict[str, Any]:
    """Laplace pairs in a box behind a network of so many layers, fitted by defaults."""
    generator = torch.Generator().manual_seed(seed)
    anchors = Marginal(Box(dim), Uniform()).sample(pairs, generator)
    partners = Conditional(Box(dim), Laplace(0.05)).sample(anchors, generator)
    mixing = Layers(layers=layers).draw(dim, None, generator=generator)
    x, x_pos = (mixing(values).numpy() for values in (anchors, partners))
    started = time.monotonic()
    model = ContrastiveICA(dim, random_state=seed).fit(x, x_pos)
    seconds = time.monotonic() - started
    codes = model.transform(x)
    return {
        "MCC": round(100 * mcc(anchors.numpy(), codes).value, 2),
        "R²": round(100 * linear_r2(anchors.numpy(), codes).value, 2),
        "held-out bits": round(float(model.validation_score_ or 0), 2),
        "fitted bits": round(float(model.fitted_bits_ or 0), 2),
        "chosen": model.chosen_,
        "seconds": round(seconds),
    }


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "five layers, ten factors, 50 000 pairs": lambda: mixture(5, 10, 50_000),
    "three layers, ten factors, 50 000 pairs": lambda: mixture(3, 10, 50_000),
    "three layers, five factors, 2 000 pairs": lambda: mixture(3, 5, 2000),
}


def run(name: str) -> dict[str, Any]:
    """One case, on one thread."""
    torch.set_num_threads(1)
    return {"case": name} | CASES[name]()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="parts of the names of cases")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/recordings"))
    options = parser.parse_args()
    from joblib import Parallel, delayed

    names = [name for name in CASES if not options.only or any(part in name for part in options.only)]
    path = options.out / "finite.json"
    older = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    done = {result["case"]: result for result in older}
    for result in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(delayed(run)(name) for name in names):
        print(json.dumps(result, ensure_ascii=False), flush=True)
        done[result["case"]] = result
        options.out.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            content = {"machine": describe_machine(), "results": [done[name] for name in CASES if name in done]}
            unfinished.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
