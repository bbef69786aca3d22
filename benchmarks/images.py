"""The image protocol: images per second of the training loop, against the bare encoder.

    python benchmarks/images.py [--json] [--steps 50] [--size 64] [--data masks dsprites natural]

The floor is the forward and the backward pass of the encoder's network on images that are ready. The loop is that of
every fit: pairs are drawn, bytes become numbers, and the loss, the optimisers and the checks between steps are
included. Both are timed in turns in one process: as the protocol has it, with pixels folded into channels; without
that; and with whole planes in memory instead of channels side by side. With `--data`, the loop is timed on images of
the data sets too, which must be in IDENTICA_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from dataclasses import replace

import torch
from torch import nn

import measure
from identica._random import random_stream
from identica.assembly import assemble
from identica.learners import Contrastive, ContrastiveLearner
from identica.models import Model
from identica.recipes import Recipe
from identica.sources import ArrayPairs, DSprites, KittiMasks, NaturalSprites, Source
from identica.spaces import Real
from identica.training import Schedule, make_optimizers, train
from timed import TimedBatches

IMAGES = 20_000
LAYOUTS = ("folded", "channels last", "planes")
DATA = {"masks": KittiMasks(), "dsprites": DSprites("LAP"), "natural": NaturalSprites("discrete")}


def squares(size: int) -> ArrayPairs:
    """Pairs of bytes that show bright squares in places that are near each other."""
    generator = random_stream(0, "squares")
    places = torch.randint(size // 2, (IMAGES, 2), generator=generator)
    axis = torch.arange(size)
    inside = [(axis >= places[:, k, None]) & (axis < places[:, k, None] + size // 4) for k in range(2)]
    images = (inside[0][:, :, None] & inside[1][:, None, :]).to(torch.uint8)[:, None]
    partners = torch.randint(IMAGES, (IMAGES, 2), generator=generator)
    return ArrayPairs(images, partners.numpy())


def learner_of(recipe: Recipe, source: Source, layout: str) -> ContrastiveLearner:
    if layout in ("channels last", "planes"):
        recipe = replace(recipe, encoder=replace(recipe.encoder, fold=1))
    made = assemble(Contrastive(Model(Real(10), "laplace")), recipe, source, 0)
    assert isinstance(made, ContrastiveLearner)
    if layout == "planes":
        backbone = made.encoder.backbone
        assert isinstance(backbone, nn.Sequential)
        made.encoder.backbone = nn.Sequential(*backbone).to(memory_format=torch.contiguous_format)
    return made


class Contest:
    """One network in the loop and alone."""

    def __init__(self, recipe: Recipe, source: Source, layout: str) -> None:
        self.recipe, self.source = recipe, source
        self.learner = learner_of(recipe, source, layout)
        self.batches = TimedBatches(self.learner)
        self.optimizers = make_optimizers(self.learner, recipe.training)
        self.generator = random_stream(0, "batches")
        self.pairs = recipe.training.batch_size
        with torch.no_grad():
            self.ready = self.learner.encoder.front(torch.cat(source.pairs(self.pairs, self.generator)))
        self.bare: list[float] = []
        self.loop: list[float] = []
        self.drawing: list[float] = []

    def time_bare(self, steps: int) -> None:
        started = time.perf_counter()
        for _ in range(steps):
            self.learner.encoder.backbone(self.ready).sum().backward()
            self.learner.zero_grad(set_to_none=True)
        self.bare.append((time.perf_counter() - started) / steps)

    def time_loop(self, steps: int) -> None:
        training = self.recipe.training
        before, started = self.batches.seconds, time.perf_counter()
        train(
            self.learner,
            self.source,
            self.optimizers,
            Schedule(steps, training.warmup, training.cosine),
            batch_size=self.pairs,
            generator=self.generator,
            device="cpu",
        )
        seconds = time.perf_counter() - started
        self.loop.append(seconds / steps)
        self.drawing.append((self.batches.seconds - before) / seconds)

    def result(self) -> dict[str, float]:
        bare, loop = statistics.median(self.bare), statistics.median(self.loop)
        return {
            "encoder_images_per_second": round(2 * self.pairs / bare, 1),
            "loop_images_per_second": round(2 * self.pairs / loop, 1),
            "ratio": round(statistics.median(b / a for a, b in zip(self.loop, self.bare, strict=True)), 3),
            "data_loading_share": round(statistics.median(self.drawing), 4),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--steps", type=int, default=50, help="steps of one turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--size", type=int, default=64, help="pixels of a side")
    parser.add_argument("--data", nargs="*", choices=tuple(DATA), default=[], help="data sets to load images of, too")
    parser.add_argument("--threads", type=int, default=0, help="0 for those of the protocol")
    arguments = parser.parse_args()
    recipe = Contrastive(Model(Real(10), "laplace")).image_recipe("fast")
    torch.set_num_threads(arguments.threads or recipe.training.threads or os.cpu_count() or 1)
    source = squares(arguments.size)
    contests = {name: Contest(recipe, source, name) for name in LAYOUTS}
    contests |= {name: Contest(recipe, DATA[name].available().build(0), name) for name in arguments.data}
    for contest in contests.values():
        contest.time_bare(2)
        contest.time_loop(2)
        contest.bare, contest.loop, contest.drawing = [], [], []
    for _ in range(arguments.turns):
        for contest in contests.values():
            contest.time_bare(arguments.steps)
            contest.time_loop(arguments.steps)
    measured = {name: contest.result() for name, contest in contests.items()}
    folded, last, planes = (measured[name]["encoder_images_per_second"] for name in LAYOUTS)
    result = {
        "layouts": measured,
        "fold_speedup": round(folded / last, 2),
        "channels_last_speedup": round(last / planes, 2),
        "pairs_in_a_batch": recipe.training.batch_size,
        "pixels": arguments.size,
        "machine": measure.machine(),
    }
    if not arguments.json:
        print(_table(measured), "", sep="\n")
        print(f"channels last: {result['channels_last_speedup']} × as fast; folded: {result['fold_speedup']} × that\n")
    print(json.dumps(result))


def _table(measured: dict[str, dict[str, float]]) -> str:
    lines = [
        "| layout, or data | encoder, images/s | loop, images/s | ratio | data loading |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, one in measured.items():
        speeds = f"{one['encoder_images_per_second']:.0f} | {one['loop_images_per_second']:.0f}"
        lines.append(f"| {name} | {speeds} | {one['ratio']:.2f} | {100 * one['data_loading_share']:.1f} % |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
