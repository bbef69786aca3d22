"""What each process of a shared training does: `python ranks.py FOLDER STEPS CASE…`, alone or by torchrun."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from identica._launched import launched
from identica._random import random_stream
from identica.assembly import assemble
from identica.laws import Laplace, Normal, VonMisesFisher
from identica.learners import AdaGVAE, AlignUniform, BetaVAE, Contrastive, LearnerSettings, SlowVAE, Supervised
from identica.models import Model
from identica.recipes import Recipe
from identica.sources import ArrayPairs, ScenePairs, Source, Synthetic
from identica.sources.threedident import RenderedPairs, SceneImages
from identica.spaces import Box, Real, Sphere
from identica.training import Schedule, make_optimizers, train

BOX, BALL, LINE = (
    Synthetic(Box(3), Laplace(0.1)),
    Synthetic(Sphere(3), VonMisesFisher(10.0)),
    Synthetic(Real(3), Normal(0.3), Normal(1.0)),
)


def images(size: int = 16) -> ArrayPairs:
    pixels = torch.rand(64, 1, size, size, generator=torch.Generator().manual_seed(0))
    return ArrayPairs(pixels, [[row, (row + 1) % 64] for row in range(64)])


def cases() -> dict[str, tuple[LearnerSettings, Source, Recipe]]:
    """Every head, loss and normalisation by moments of a batch."""
    found: dict[str, tuple[LearnerSettings, Source, Recipe]] = {}
    vectors: dict[str, tuple[LearnerSettings, Synthetic, str]] = {
        "sphere": (Contrastive(Model(Sphere(3), "vmf")), BALL, "fast"),
        "soft box": (Contrastive(Model(Box(3), "laplace", "free")), BOX, "fast"),
        "unbounded": (Contrastive(Model(Real(3), "normal")), LINE, "fast"),
        "bounds of a box": (Contrastive(Model(Box(3), "laplace")), BOX, "paper"),
        "plain codes": (Contrastive(Model(Real(3), "normal")), LINE, "paper"),
        "alignment": (AlignUniform(0.9, 1, Real(3)), LINE, "fast"),
        "labels": (Supervised(Box(3)), BOX, "fast"),
    }
    for name, (learner, source, protocol) in vectors.items():
        recipe = learner.recipe(protocol)
        widths = replace(recipe.encoder, widths=(16, 16))
        found[name] = learner, source.build(0), replace(recipe, encoder=widths)
    for vae in (BetaVAE(3), SlowVAE(3), AdaGVAE(3)):
        found[vae.title] = vae, images(), vae.recipe("fast")
    model = Contrastive(Model(Box(3), "laplace"))
    recipe = model.image_recipe("fast")
    found["batch norm"] = model, images(32), replace(recipe, encoder=replace(recipe.encoder, network="resnet"))
    found["neighbours"] = model, scenes(), neighbours(recipe)
    return found


def scenes() -> ScenePairs:
    """Pictures and partners that were rendered for them."""
    draw = np.random.default_rng(0)
    parts = [
        SceneImages(draw.integers(0, 256, (64, 16, 16, 3), np.uint8), torch.from_numpy(draw.uniform(-1, 1, (64, 10))))
        for _ in range(2)
    ]
    return ScenePairs(parts[0], parts[0], RenderedPairs(parts[1]))


def neighbours(recipe: Recipe) -> Recipe:
    """Batches of anchors that are alike; half of all are seen after one batch."""
    assert recipe.contrastive is not None
    loss = replace(recipe.contrastive, neighbours=8, in_batch="both")
    return replace(recipe, contrastive=loss, encoder=replace(recipe.encoder, network="light"))


def trained(name: str, steps: int, report: Any = None, **options: Any) -> nn.Module:
    settings, source, recipe = cases()[name]
    training = replace(recipe.training, threads=1)
    learner = assemble(settings, recipe, source, 0).double()
    with learner.reading(source) as read:
        train(
            learner,
            read,
            make_optimizers(learner, training),
            Schedule(steps, warmup=2),
            batch_size=64,
            generator=random_stream(0, "batches"),
            device="cpu",
            precision="64-true",  # what is no more than rounding must not be taken for a gradient
            report=report,
            **options,
        )
    return learner


def main() -> None:
    torch.set_num_threads(1)
    folder, steps, *names = sys.argv[1:]
    for name in names or cases():
        learner = trained(name, int(steps), spread=True)
        if launched().is_first:
            weights = {key: value.contiguous() for key, value in learner.state_dict().items()}
            save_file(weights, Path(folder) / f"{name}-{launched().size}.safetensors")


if __name__ == "__main__":
    os.environ["IDENTICA_COMPILE"] = "0"
    main()
