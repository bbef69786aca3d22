"""3DIdent: how much of the factors is in the wide codes of a row, and what is made of it?

python benchmarks/threedident_wide.py [--store runs/3dident] [--row t4-01] [--seed 0] [--steps 5000]

The run of the row is computed into the store, if it is not there. Its wide codes stay as they are. What a linear map
and a small network read off them with labels is what they hold; the row's own codes, and others on a sphere, are what
small networks learn from them without labels. All scores are of the test images.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identica._checks import at_least_one
from identica.experiments import Run, RunStore, find_rows, trained_learner
from identica.experiments.evaluation import as_numpy
from identica.fitting import fit_from_wide_codes
from identica.learners import Contrastive, ContrastiveLearner, Learner
from identica.metrics import compute_scores
from identica.models import Model
from identica.recipes import wide_codes
from identica.sources import ScenePairs
from identica.sources.threedident import SceneImages
from identica.spaces import Sphere
from recipe import compute

Array = NDArray[np.floating[Any]]
ROWS = ("t4-01", "t4-02", "t4-03")
AT_ONCE = 512
ROTATIONS = slice(3, 6)
HIDDEN = (256, 256)
HEAD = "| from the wide codes | R² | of the rotations | MCC |\n| --- | --- | --- | --- |"


def line(name: str, factors: Array, found: Array) -> str:
    """A line of the table."""
    scores = compute_scores(("r2", "mcc"), factors, found)
    rotations = ", ".join(f"{100 * value:.1f}" for value in scores["r2"].per_factor[ROTATIONS])
    r2, mcc = (f"{100 * scores[score].value:.1f}" for score in ("r2", "mcc"))
    return f"| {name} | {r2} | {rotations} | {mcc} |"


@torch.no_grad()
def codes(learner: Learner, scenes: SceneImages) -> Array:
    """Codes of all images."""
    pieces = torch.arange(len(scenes)).split(AT_ONCE)
    found: Array = as_numpy(torch.cat([learner.codes(scenes.floats(rows)) for rows in pieces]))
    return found


def read_with_labels(training: tuple[Array, Array], test: Array) -> dict[str, Array]:
    """Factors that are read off the wide codes of test images, by those of training images."""
    network = MLPRegressor(
        hidden_layer_sizes=HIDDEN, batch_size=1024, learning_rate_init=2e-3, early_stopping=True, random_state=0
    )
    readers = {"a linear map, with labels": LinearRegression(), "a small network, with labels": network}
    fitted = {name: make_pipeline(StandardScaler(), reader).fit(*training) for name, reader in readers.items()}
    return {name: np.asarray(reader.predict(test)) for name, reader in fitted.items()}


def on_a_sphere(run: Run, source: ScenePairs, wide: ContrastiveLearner) -> Learner:
    """Ten codes on a sphere, learnt from the wide codes without labels."""
    assert run.recipe.wide is not None
    model = Model(Sphere(10), "vmf")
    recipe = replace(run.recipe, wide=wide_codes(run.recipe.wide.count, model))
    return fit_from_wide_codes(Contrastive(model), recipe, source, run.seed, wide).learner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("runs/3dident"))
    parser.add_argument("--row", choices=ROWS, default=ROWS[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="of the wide codes; default: those of the row")
    options = parser.parse_args()
    steps = None if options.steps is None else at_least_one("--steps", options.steps)
    (row,) = find_rows([options.row])
    run = replace(row, source=row.source.available()).run(options.seed, steps=steps)
    store = RunStore(options.store)
    compute({(row.id, "fast"): run}, store, workers=1)
    of_wide = run.of_wide_codes
    source = run.source.build(run.seed)
    assert of_wide is not None
    assert isinstance(source, ScenePairs)
    wide, own = trained_learner(of_wide, source, store), trained_learner(run, source, store)
    assert isinstance(wide, ContrastiveLearner)
    factors, training = as_numpy(source.test.latents), as_numpy(source.training.latents)
    print(HEAD)
    read = read_with_labels((codes(wide, source.training), training), codes(wide, source.test))
    for name, found in read.items():
        print(line(name, factors, found), flush=True)
    print(line(f"the codes of {row.id}, without labels", factors, codes(own, source.test)), flush=True)
    print(line("ten codes on a sphere, without labels", factors, codes(on_a_sphere(run, source, wide), source.test)))


if __name__ == "__main__":
    main()
