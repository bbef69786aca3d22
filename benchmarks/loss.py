"""The loss alone: growth with the batch and with the dimension, and against the textbook formula.

    python benchmarks/loss.py growth|dimension|textbook

Each measurement runs in a process of its own. Time is that of value and gradient; memory is what the call adds.
"""

from __future__ import annotations

import argparse
import json
import os

import torch

import measure
from identica.objectives import DotProduct, InfoNCE, PowerDistance, Similarity
from textbook import textbook_info_nce

POWERS: dict[str, float | None] = {"dot": None, "1": 1.0, "2": 2.0, "3": 3.0}
BATCHES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
DIMENSIONS = (10, 20, 50, 100)


def similarity(name: str) -> Similarity:
    power = POWERS[name]
    return DotProduct() if power is None else PowerDistance(power)


def measure_one(name: str, batch: int, dim: int, *, textbook: bool, memory: bool) -> dict[str, float]:
    torch.set_num_threads(os.cpu_count() or 1)
    generator = torch.Generator().manual_seed(0)
    anchors = torch.rand(batch, dim, generator=generator, requires_grad=True)
    positives = torch.rand(batch, dim, generator=generator, requires_grad=True)
    objective = InfoNCE(similarity(name))

    def call() -> None:
        anchors.grad = positives.grad = None
        loss = textbook_info_nce(anchors, positives, POWERS[name]) if textbook else objective(anchors, positives)
        loss.backward()

    if memory:
        if not textbook:
            call()  # what compilation takes is not the loss's
        anchors.grad = positives.grad = None
        before = measure.resident_mb()
        measure.forget_peak()
        call()
        return {"megabytes": measure.peak_mb() - before}
    long = textbook or batch > 20_000
    return {"seconds": measure.seconds(call, repeats=1 if long else 5, warmup=0 if long else 1)}


def child(name: str, batch: int, dim: int = 10, *, textbook: bool = False) -> dict[str, float]:
    """Time and memory, each in a process of its own."""
    words = ["one", "--name", name, "--batch", str(batch), "--dim", str(dim)] + ["--textbook"] * textbook
    seconds = measure.in_child("loss.py", *words)
    return seconds | measure.in_child("loss.py", *words, "--memory", exact_memory=True)


def growth(
    names: tuple[str, ...] = ("dot", "1", "3"), batches: tuple[int, ...] = BATCHES
) -> dict[str, dict[str, object]]:
    return {name: {str(batch): child(name, batch) for batch in batches} for name in names}


def dimension(names: tuple[str, ...] = ("dot", "1", "2", "3"), batch: int = 4096) -> dict[str, dict[str, object]]:
    return {name: {str(dim): child(name, batch, dim) for dim in DIMENSIONS} for name in names}


def textbook(batch: int = 6144) -> dict[str, dict[str, object]]:
    results = {}
    for name in POWERS:
        ours, theirs = child(name, batch), child(name, batch, textbook=True)
        results[name] = {
            "ours": ours,
            "textbook": theirs,
            "speed_up": theirs["seconds"] / ours["seconds"],
            "memory_fraction": ours["megabytes"] / theirs["megabytes"],
        }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "dimension", "textbook", "one"])
    parser.add_argument("--name", choices=POWERS, default="1")
    parser.add_argument("--batch", type=int, default=6144)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--textbook", action="store_true")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "one":
        result: object = measure_one(
            arguments.name,
            arguments.batch,
            arguments.dim,
            textbook=arguments.textbook,
            memory=arguments.memory,
        )
    else:
        result = {"growth": growth, "dimension": dimension, "textbook": textbook}[arguments.what]()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
