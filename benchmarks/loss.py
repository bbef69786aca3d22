"""The loss alone: growth with the batch and with the dimension, and against the textbook formula.

    python benchmarks/loss.py growth|dimension|textbook

Time is that of value and gradient; memory is what the call adds to the process.
"""

from __future__ import annotations

import argparse
import json
import os

import torch

import measure
from identica.objectives import InfoNCE
from identica.similarities import DotProduct, PowerDistance, Similarity
from textbook import textbook_info_nce

POWERS: dict[str, float | None] = {"dot": None, "1": 1.0, "2": 2.0, "3": 3.0}
BATCHES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
DIMENSIONS = (10, 20, 50, 100)
_LONG = 20_000


def similarity(name: str) -> Similarity:
    power = POWERS[name]
    return DotProduct() if power is None else PowerDistance(power)


def measure_sizes(name: str, sizes: list[tuple[int, int]], *, textbook: bool, memory: bool) -> list[float]:
    """Seconds (or megabytes) of value and gradient for each (batch, dimension), in this process."""
    torch.set_num_threads(os.cpu_count() or 1)
    return [_measure(name, batch, dim, textbook=textbook, memory=memory) for batch, dim in sizes]


def _measure(name: str, batch: int, dim: int, *, textbook: bool, memory: bool) -> float:
    generator = torch.Generator().manual_seed(0)
    anchors = torch.rand(batch, dim, generator=generator, requires_grad=True)
    positives = torch.rand(batch, dim, generator=generator, requires_grad=True)
    objective = InfoNCE(similarity(name))

    def call() -> None:
        anchors.grad = positives.grad = None
        loss = textbook_info_nce(anchors, positives, POWERS[name]) if textbook else objective(anchors, positives)
        loss.backward()

    if not memory:
        long = textbook or batch > _LONG
        return measure.seconds(call, repeats=1 if long else 5, warmup=0 if long else 2)
    if not textbook and batch < _LONG:
        call()  # what compilation takes is not the loss's
    anchors.grad = positives.grad = None
    before = measure.resident_mb()
    measure.forget_peak()
    call()
    return measure.peak_mb() - before


def child(name: str, sizes: list[tuple[int, int]], *, textbook: bool = False) -> list[dict[str, float]]:
    """Time and memory for each size, each in a process of its own."""
    seconds = _child(name, sizes, textbook=textbook)
    megabytes = _child(name, sizes, textbook=textbook, memory=True)
    return [{"seconds": time, "megabytes": size} for time, size in zip(seconds, megabytes, strict=True)]


def _child(name: str, sizes: list[tuple[int, int]], *, textbook: bool = False, memory: bool = False) -> list[float]:
    words = ["sizes", "--name", name, "--sizes", json.dumps(sizes)] + ["--textbook"] * textbook + ["--memory"] * memory
    return measure.in_child("loss.py", *words, exact_memory=memory)


def growth(names: tuple[str, ...] = ("dot", "1", "3")) -> dict[str, dict[str, object]]:
    """Batch and negatives growing together; the largest batches for α = 1 alone, each of their calls takes a minute."""
    results: dict[str, dict[str, object]] = {}
    for name in names:
        batches = [batch for batch in BATCHES if name == "1" or batch <= _LONG]
        results[name] = dict(zip(map(str, batches), child(name, [(batch, 10) for batch in batches]), strict=True))
    return results


def dimension(names: tuple[str, ...] = tuple(POWERS), batch: int = 4096) -> dict[str, dict[str, float]]:
    """Seconds as the dimension of the codes grows."""
    keys = [str(dim) for dim in DIMENSIONS]
    return {name: dict(zip(keys, _child(name, [(batch, d) for d in DIMENSIONS]), strict=True)) for name in names}


def textbook(names: tuple[str, ...] = ("1", "3"), batch: int = 6144) -> dict[str, dict[str, object]]:
    """Against the textbook formula at the paper's batch."""
    results: dict[str, dict[str, object]] = {}
    for name in names:
        (ours,), (theirs,) = child(name, [(batch, 10)]), child(name, [(batch, 10)], textbook=True)
        results[name] = {
            "ours": ours,
            "textbook": theirs,
            "speed_up": theirs["seconds"] / ours["seconds"],
            "memory_fraction": ours["megabytes"] / theirs["megabytes"],
        }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "dimension", "textbook", "sizes"])
    parser.add_argument("--name", choices=POWERS, default="1")
    parser.add_argument("--sizes", default="[[6144, 10]]", help="with sizes: [[batch, dimension], …]")
    parser.add_argument("--textbook", action="store_true", help="with sizes: the textbook formula instead of ours")
    parser.add_argument("--memory", action="store_true", help="with sizes: megabytes instead of seconds")
    arguments = parser.parse_args()
    if arguments.what == "sizes":
        sizes = [(batch, dim) for batch, dim in json.loads(arguments.sizes)]
        result: object = measure_sizes(arguments.name, sizes, textbook=arguments.textbook, memory=arguments.memory)
    else:
        result = {"growth": growth, "dimension": dimension, "textbook": textbook}[arguments.what]()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
