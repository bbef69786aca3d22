"""What a run of the paper's 3DIdent takes on one GPU, eight and thirty-two, on paper.

    python benchmarks/scale.py [--json]

Counted here: operations of a training step of the network, its parameters, and the seconds of an image on one core.
Stated, not measured: how fast devices compute and exchange, below.
"""

from __future__ import annotations

import argparse
import json
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

from identica.encoders import ResNet18

PAIRS, STEPS, SIDE, FACTORS = 512, 200_000, 224, 10
# Of one GPU in bf16 that sustains a fifth of its 312 · 10^12 operations a second.
OPERATIONS = 66e12
# Bytes a second: from the memory of a machine to its GPU, between GPUs of a machine, between machines (100 Gbit/s).
TO_GPU, WITHIN, BETWEEN = 25e9, 200e9, 12.5e9
PLACES = {"1 GPU": (1, 1), "8 GPUs": (8, 1), "4 machines of 8 GPUs": (32, 4)}


def counted(images: int) -> dict[str, float]:
    """Operations and seconds of one image, forwards and backwards, and parameters of the network."""
    torch.set_num_threads(1)
    network = ResNet18(3, FACTORS, generator=torch.Generator().manual_seed(0))
    batch = torch.rand(images, 3, SIDE, SIDE)
    network(batch).sum().backward()
    before = time.process_time()
    network(batch).sum().backward()
    seconds = (time.process_time() - before) / images
    with FlopCounterMode(display=False) as counter:
        network(batch).sum().backward()
    parameters = sum(value.numel() for value in network.parameters())
    return {
        "operations": counter.get_total_flops() / images,
        "core_seconds": seconds,
        "parameters": parameters,
    }


def step_seconds(one: dict[str, float], devices: int, machines: int) -> dict[str, float]:
    """Parts of one step; the exchange of gradients passes each byte twice, by the slowest way."""
    images = 2 * PAIRS
    gradients = 4 * one["parameters"] * 2 * (devices - 1) / devices
    return {
        "computing": images / devices * one["operations"] / OPERATIONS,
        "copying": images * 3 * SIDE**2 / TO_GPU,  # each process draws the whole batch
        "exchanging": gradients / (BETWEEN if machines > 1 else WITHIN),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    one = counted(options.images)
    found = {name: step_seconds(one, *place) for name, place in PLACES.items()}
    if options.json:
        print(json.dumps({"image": one, "steps": found}))
        return
    print(
        f"an image: {one['operations'] / 1e9:.1f} · 10^9 operations, {one['core_seconds']:.2f} s on one core; "
        f"{one['parameters'] / 1e6:.1f} million parameters"
    )
    days = 2 * PAIRS * one["core_seconds"] * STEPS / 86_400
    print(f"one core: {days:.0f} days")
    for name, parts in found.items():
        each = ", ".join(f"{part} {1000 * seconds:.1f} ms" for part, seconds in parts.items())
        print(f"{name}: {each}; {sum(parts.values()) * STEPS / 3600:.1f} hours")


if __name__ == "__main__":
    main()
