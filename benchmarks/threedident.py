"""3DIdent: pairs matched a second, how near the matches are, and the share of loading in a training step.

    python benchmarks/threedident.py [--json] [--images 50000] [--pairs 100000] [--row t4-01]

Matching needs latents alone, which are uniform; they are drawn here. For each index: seconds to build it, seconds to
match so many pairs, the part of matches that are those of the exact search, and the deviation of partners from their
anchors in each latent, beside that of the law. Loading is timed in the loop that trains the network of a row from
images, wide codes if it has them, over images of random bytes in a temporary folder: choosing anchors, matching,
reading and turning bytes into numbers, as a part of the step. Neighbours are chosen from the first step on.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import measure
from identica._random import random_stream
from identica.assembly import assemble
from identica.experiments import ROWS
from identica.laws import Conditional, Normal
from identica.learners import ContrastiveLearner
from identica.sources import ScenePairs
from identica.sources.threedident import MatchedPairs, Matcher, SceneImages, read_scenes
from identica.spaces import Box
from identica.training import Schedule, make_optimizers, train
from timed import TimedBatches

SIGMA = 0.1
SPACE = Box(10, -1.0, 1.0)
# Rows with normal pairs that are matched: what is timed here.
TRAINED = ("t4-01", "t4-02", "t4-04")


def matching(images: int, pairs: int) -> dict[str, Any]:
    generator = random_stream(0, "benchmark")
    latents = SPACE.uniform(images, generator)
    rows = torch.randint(images, (pairs,), generator=generator)
    wanted = Conditional(SPACE, Normal(SIGMA)).sample(latents[rows], generator)
    found, exact = {}, None
    for search in ("exact", "ivf"):
        started = time.perf_counter()
        matcher = Matcher(latents, search)  # type: ignore[arg-type]
        built = time.perf_counter()
        partners = matcher.nearest(wanted, rows)
        ended = time.perf_counter()
        exact = partners if exact is None else exact
        found[search] = {
            "seconds_to_build": round(built - started, 2),
            "seconds_to_match": round(ended - built, 2),
            "same_as_exact": round(float((partners == exact).float().mean()), 4),
            "deviation_of_partners": round(float((latents[partners] - latents[rows]).square().mean().sqrt()), 4),
        }
    drawn = float((wanted - latents[rows]).square().mean().sqrt())
    return {"images": images, "pairs": pairs, "deviation_drawn": round(drawn, 4), "searches": found}


def loading(images: int, size: int, steps: int, row: str) -> dict[str, Any]:
    run = ROWS[row].run(0)
    run = run.of_wide_codes or run  # what is learnt from images
    recipe = run.recipe
    torch.set_num_threads(recipe.training.threads or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        source = _scenes(Path(folder), images, size)
        learner = assemble(run.learner, recipe, source, 0)
        assert isinstance(learner, ContrastiveLearner)
        batches = TimedBatches(learner)
        generator = random_stream(0, "batches")
        settings = replace(recipe.training, steps=steps)
        optimizers = make_optimizers(learner, settings)
        with learner.reading(source) as read:
            assert learner.neighbourhoods is not None
            learner.neighbourhoods.codes.normal_()
            for count in (2, steps):  # the first steps compile
                batches.seconds, started = 0.0, time.perf_counter()
                train(
                    learner,
                    read,
                    optimizers,
                    Schedule(count, settings.warmup, settings.cosine),
                    batch_size=settings.batch_size,
                    generator=generator,
                    device="cpu",
                )
                seconds = time.perf_counter() - started
    return {
        "row": row,
        "network": recipe.encoder.network,
        "threads": torch.get_num_threads(),
        "images": images,
        "pixels": size,
        "pairs_in_a_batch": settings.batch_size,
        "seconds_a_step": round(seconds / steps, 4),
        "images_per_second": round(2 * settings.batch_size * steps / seconds, 1),
        "data_loading_share": round(batches.seconds / seconds, 4),
    }


def _scenes(folder: Path, count: int, size: int) -> ScenePairs:
    """Random bytes in the array layout, and uniform latents."""
    draw = np.random.default_rng(0)
    images = np.lib.format.open_memmap(folder / "images.npy", "w+", np.uint8, (count, size, size, 3))
    for start in range(0, count, 1000):
        images[start : start + 1000] = draw.integers(0, 256, images[start : start + 1000].shape, np.uint8)
    images.flush()
    np.save(folder / "raw_latents.npy", draw.uniform(-1, 1, (count, 10)))
    training: SceneImages = read_scenes(folder)
    pairing = MatchedPairs(Conditional(SPACE, Normal(SIGMA)), Matcher(training.latents, "ivf"))
    return ScenePairs(training, training, pairing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--images", type=int, default=50_000, help="to match among, and to train on")
    parser.add_argument("--pairs", type=int, default=100_000, help="to match")
    parser.add_argument("--size", type=int, default=64, help="pixels of a side")
    parser.add_argument("--steps", type=int, default=20, help="of training; 0 to match only")
    parser.add_argument("--row", choices=TRAINED, default=TRAINED[0], help="whose training is timed")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"matching": matching(arguments.images, arguments.pairs)}
    if arguments.steps:
        result["loading"] = loading(arguments.images, arguments.size, arguments.steps, arguments.row)
    result["machine"] = measure.machine()
    if arguments.json:
        print(json.dumps(result))
        return
    for name, one in result["matching"]["searches"].items():
        print(f"{name:<6} {' '.join(f'{key} {value}' for key, value in one.items())}")
    print(f"deviation drawn: {result['matching']['deviation_drawn']}")
    if arguments.steps:
        print(" ".join(f"{key} {value}" for key, value in result["loading"].items()))


if __name__ == "__main__":
    main()
