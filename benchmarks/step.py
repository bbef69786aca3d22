"""One training step at the paper's settings: where the time goes, and how far it is from the bare encoder.

    python benchmarks/step.py [--json]

The bare encoder's forward pass, backward pass and Adam are the floor; `ratio_to_encoder` is a whole step (sampling,
mixing, encoder, loss, optimiser) over that floor, both timed in turns in one process.
"""

from __future__ import annotations

import argparse
import json
import os

import torch

import measure
from identica._random import random_stream
from identica.assembly import assemble
from identica.experiments import ROWS
from identica.learners import ContrastiveLearner
from identica.similarities import DotProduct, PowerDistance
from identica.training import make_optimizers

ROW_OF = {"dot": "t1-02", "1": "t2-01", "2": "t2-03", "3": "t2-02"}


def measure_one(name: str, repeats: int) -> dict[str, object]:
    torch.set_num_threads(os.cpu_count() or 1)
    run = ROWS[ROW_OF[name]].run(0, "paper")
    source, batch_size = run.source.build(run.seed), run.recipe.training.batch_size
    learner = assemble(run.learner, run.recipe, source, run.seed)
    assert isinstance(learner, ContrastiveLearner)
    (adam,) = make_optimizers(learner, run.recipe.training)
    generator = random_stream(run.seed, "batches")
    expected = DotProduct() if name == "dot" else PowerDistance(float(name))
    assert learner.objective.similarity == expected
    observations = torch.cat(source.pairs(batch_size, generator))
    codes = learner.codes(observations).detach()
    gradient = torch.full_like(codes, 1e-8)

    def bare_encoder() -> None:
        adam.zero_grad()
        learner.encoder(observations).backward(gradient)
        adam.step()

    def whole_step() -> None:
        loss = learner(*learner.batch(source, batch_size, generator))
        adam.zero_grad()
        loss.backward()
        adam.step()

    def loss_alone() -> None:
        anchors, positives = codes.clone().requires_grad_().chunk(2)
        learner.objective(anchors, positives).backward()

    times = measure.seconds_of_each(
        {
            "encoder": bare_encoder,
            "step": whole_step,
            "loss": loss_alone,
            "sampling": lambda: source.pairs(batch_size, generator),
            "optimiser": adam.step,
        },
        repeats=repeats,
        warmup=2,
    )
    return {"seconds": times, "ratio": times["step"] / times["encoder"], "peak_mb": measure.peak_mb()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", choices=ROW_OF, help="one similarity, in this process")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure_one(arguments.only, arguments.repeats)))
        return
    measured = {
        name: measure.in_child("step.py", "--only", name, "--repeats", str(arguments.repeats)) for name in ROW_OF
    }
    result = {
        "ratio_to_encoder": {name: round(value["ratio"], 3) for name, value in measured.items()},
        "peak_mb": round(max(value["peak_mb"] for value in measured.values()), 1),
        "seconds": {name: value["seconds"] for name, value in measured.items()},
        "machine": measure.machine(),
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print("similarity  " + "".join(f"{part:>11}" for part in measured["dot"]["seconds"]) + "   ratio   peak MB")
    for name, value in measured.items():
        cells = "".join(f"{time * 1e3:>8.1f} ms" for time in value["seconds"].values())
        print(f"{name:<12}{cells}{value['ratio']:>8.2f}{value['peak_mb']:>10.0f}")


if __name__ == "__main__":
    main()
