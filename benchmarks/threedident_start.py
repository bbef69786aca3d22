"""3DIdent: does the loss not want the rotations, or does training not find them? Row t4-01, begun where labels end.

python benchmarks/threedident_start.py [--store runs/3dident] [--steps 300]

Two runs with the light network are computed into the store, if they are not there: the row with ten codes from the
first step on, and its supervised baseline. The network of the baseline becomes the beginning of the contrastive
encoder, which is then trained on pairs alone, at a third of the learning rate. If the loss had no use for the rotations
they would fade. Bits are those of 2048 pairs of test images, which nothing was trained on.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from torch import Tensor

from identica._checks import at_least_one
from identica._random import random_stream
from identica.assembly import fit
from identica.encoders import LightResNet
from identica.experiments import Run, RunStore, find_rows
from identica.experiments.evaluation import Evaluation, as_numpy, evaluations
from identica.experiments.restore import restore_learner
from identica.fitting import held_out_bits
from identica.laws import Conditional, Law
from identica.learners import Contrastive, Learner
from identica.metrics import Score, compute_scores
from identica.models import Model
from identica.recipes import TrainingSettings
from identica.rendering import UNIT_BOX
from identica.sources import ThreeDIdent
from identica.sources.threedident import MatchedPairs, Matcher
from recipe import Part, compute

ROW = "t4-01"
# As the row was trained before it had a second look and wide codes: both runs then have one network.
ONE_LOOK = Part(
    "ten codes of the light network",
    encoder={"network": "light"},
    training={"learning_rate": 1e-3, "steps": 12_000},
    recipe={"wide": None},
)
RATE = 1 / 3
PAIRS = 2048
ROTATIONS = slice(3, 6)
# In the frame of the teapot, which is turned by -45° about its vertical axis.
LID, SPOUT = (0.0, 0.0, 1.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0)
HEAD = f"""\
| begun | bits of {PAIRS} pairs | R² | of the rotations | of where the lid points | and the spout |
| --- | --- | --- | --- | --- | --- |"""


@dataclass(frozen=True)
class Judge:
    """Test images, and pairs of them: numbers of anchors and of their partners."""

    model: Model
    scored: Evaluation
    pairs: tuple[Tensor, Tensor]

    def line(self, name: str, learner: Learner) -> str:
        """A line of the table: bits of pairs, R² of all factors, of the rotations, and of where lid and spout point."""
        found = self.scored.codes(learner).double()
        bits = held_out_bits(self.model, *(found[rows] for rows in self.pairs)).mean()
        factors, codes = as_numpy(self.scored.factors), as_numpy(found)
        turned = Rotation.from_euler("xyz", factors[:, ROTATIONS] * math.pi / 2)
        all_factors, lid, spout = (r2(target, codes) for target in (factors, turned.apply(LID), turned.apply(SPOUT)))
        rotations = ", ".join(f"{100 * value:.1f}" for value in all_factors.per_factor[ROTATIONS])
        shown = [f"{100 * score.value:.1f}" for score in (all_factors, lid, spout)]
        return f"| {name} | {bits:.2f} | {shown[0]} | {rotations} | {shown[1]} | {shown[2]} |"


def r2(factors: NDArray[Any], codes: NDArray[Any]) -> Score:
    return compute_scores(("r2",), factors, codes)["r2"]


def pairs_of_test_images(settings: ThreeDIdent) -> tuple[Tensor, Tensor]:
    """Numbers of anchors and partners among the test images, matched as those to train on are."""
    assert isinstance(settings.pairs, Law)
    test, generator = settings.read("test"), random_stream(0, "pairs of bits")
    rows = torch.randperm(len(test), generator=generator)[:PAIRS]
    matched = MatchedPairs(Conditional(UNIT_BOX, settings.pairs), Matcher(test.latents))
    return rows, matched.partners(test, rows, generator)


def network_of(learner: Learner) -> LightResNet:
    """The residual network inside a learner."""
    (found,) = (module for module in learner.modules() if isinstance(module, LightResNet))
    return found


def slower(training: TrainingSettings, steps: int) -> TrainingSettings:
    """The same training for fewer steps, gentle enough to keep what a network has."""
    rates = {name: RATE * getattr(training, name) for name in ("learning_rate", "bias_learning_rate")}
    return replace(training, steps=steps, warmup=math.ceil(steps / 10), **rates)


def plan() -> tuple[Run, Run]:
    """The run without labels, and that with them."""
    (row,) = find_rows([ROW])
    row = replace(row, source=row.source.available())
    run = row.run(0)
    return replace(run, recipe=ONE_LOOK.changed(run.recipe)), row.baseline(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("runs/3dident"))
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    steps, store = at_least_one("--steps", options.steps), RunStore(options.store)
    run, baseline = plan()
    compute({(ROW, ONE_LOOK.name): run, (ROW, "with labels"): baseline}, store, workers=2)
    _, found = restore_learner(store, run.name)
    _, labelled = restore_learner(store, baseline.name)
    assert isinstance(run.source, ThreeDIdent)
    assert isinstance(run.learner, Contrastive)
    source = run.source.build(run.seed)
    judge = Judge(run.learner.model, evaluations(source, run.seed, "cpu")["test"], pairs_of_test_images(run.source))

    def begin(learner: Learner) -> None:
        network_of(learner).load_state_dict(network_of(labelled).state_dict())
        print(judge.line("where labels end", learner.eval()), flush=True)
        learner.train()

    print(HEAD)
    print(judge.line(f"at random, {run.recipe.training.steps} steps", found), flush=True)
    recipe = replace(run.recipe, training=slower(run.recipe.training, steps))
    trained = fit(run.learner, recipe, source, run.seed, prepare=begin)
    print(judge.line(f"where labels end, {steps} steps", trained.learner))


if __name__ == "__main__":
    main()
