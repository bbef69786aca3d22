"""Finite data by defaults: a deep mixing of many pairs, an easy one of few, and motion capture.

python benchmarks/finite.py [--only NAME …] [--jobs 2] [--out docs/recordings]

Each fit has one thread. Motion capture is that of IDENTICA_DATA/mocap; its components are fitted with five seeds, and
what is shown is the share of components that come back, as `identica consistency` has it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from identica import ContrastiveICA
from identica._files import replacing
from identica._machine import describe_machine
from identica.datafiles import data_folder, read_dataset
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.metrics import linear_r2, mcc
from identica.sources import Layers
from identica.spaces import Box
from identica.validation import consistency

REFITS = 5


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


def motion(components: int) -> dict[str, Any]:
    """Agreement of refits to motion capture, fitted by defaults."""
    dataset = read_dataset(data_folder() / "mocap")
    started = time.monotonic()
    settings = {"lag": 12, "space": "unbounded"}
    fits = [
        ContrastiveICA(components, random_state=seed, **settings).fit(dataset.observations, trials=dataset.trials)
        for seed in range(REFITS)
    ]
    codes = [fit.transform(dataset.observations, trials=dataset.trials) for fit in fits]
    found = consistency(codes, ambiguity=fits[0].ambiguity_)
    return {
        "agreement": round(100 * float(np.mean(found.agreement)), 2),
        "held-out bits": round(float(np.mean([fit.validation_score_ for fit in fits])), 2),
        "fitted bits": round(float(np.mean([fit.fitted_bits_ for fit in fits])), 2),
        "chosen": fits[0].chosen_,
        "seconds": round((time.monotonic() - started) / REFITS),
    }


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "five layers, ten factors, 50 000 pairs": lambda: mixture(5, 10, 50_000),
    "three layers, ten factors, 50 000 pairs": lambda: mixture(3, 10, 50_000),
    "three layers, five factors, 2 000 pairs": lambda: mixture(3, 5, 2000),
    **{f"motion capture, {count} components": lambda count=count: motion(count) for count in (4, 6, 8, 10)},
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
