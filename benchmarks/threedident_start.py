"""3DIdent: does the loss not want the rotations, or does training not find them? Row t4-01, begun where labels end.

python benchmarks/threedident_start.py [--store runs/3dident] [--steps 300]

The network of the supervised baseline becomes the beginning of the contrastive encoder, which is then trained as the
row trains it, on pairs alone and at a third of its learning rate. If the loss had no use for the rotations they would
fade. Bits are those of 2048 pairs of test images, which nothing was trained on. The store must hold the row and its
baseline, with weights:

identica reproduce t4-01 --supervised --out runs/3dident
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from scipy.spatial.transform import Rotation
from torch import Tensor

from identica._checks import InputError, at_least_one
from identica._random import random_stream
from identica.assembly import fit
from identica.encoders import LightResNet
from identica.experiments import RunStore, find_rows
from identica.experiments.evaluation import Evaluation, as_numpy, evaluations
from identica.experiments.restore import restore_learner
from identica.fitting import held_out_bits
from identica.laws import Conditional, Law
from identica.learners import Learner
from identica.metrics import compute_scores
from identica.models import Model
from identica.sources import ThreeDIdent
from identica.sources.threedident import MatchedPairs, Matcher
from identica.sources.threedident._latent_box import LATENT_BOX
from identica.spaces import Box

Pairs = tuple[Tensor, Tensor]

ROW = "t4-01"
MODEL = Model(Box(10), "normal")
RATE = 1 / 3
PAIRS = 2048
_ROTATIONS = slice(3, 6)
# In the frame of the teapot, which is turned by -45° about its vertical axis.
LID, SPOUT = (0.0, 0.0, 1.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0)


def network_of(learner: Learner) -> LightResNet:
    """The residual network inside a learner."""
    (found,) = (module for module in learner.modules() if isinstance(module, LightResNet))
    return found


def pairs_of_test_images(settings: ThreeDIdent) -> Pairs:
    """Numbers of anchors and partners among the test images, matched as those to train on are."""
    assert isinstance(settings.pairs, Law)
    test, generator = settings.read("test"), random_stream(0, "pairs of bits")
    rows = torch.randperm(len(test), generator=generator)[:PAIRS]
    matched = MatchedPairs(Conditional(LATENT_BOX, settings.pairs), Matcher(test.latents))
    return rows, matched.partners(test, rows, generator)


def line(name: str, learner: Learner, scored: Evaluation, pairs: Pairs) -> str:
    """A line of the table: bits of pairs, R² of all factors, of the rotations, and of where lid and spout point."""
    found = scored.codes(learner).double()
    bits = float(held_out_bits(MODEL, found[pairs[0]], found[pairs[1]]).mean())
    factors, codes = as_numpy(scored.factors), as_numpy(found)
    score = compute_scores(("r2",), factors, codes)["r2"]
    rotations = ", ".join(f"{100 * value:.1f}" for value in score.per_factor[_ROTATIONS])
    turned = Rotation.from_euler("xyz", factors[:, _ROTATIONS] * math.pi / 2)
    pointing = [f"{100 * compute_scores(('r2',), turned.apply(way), codes)['r2'].value:.1f}" for way in (LID, SPOUT)]
    shown = [f"{bits:.2f}", f"{100 * score.value:.1f}", rotations, *pointing]
    return f"| {name} | {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=Path("runs/3dident"))
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    steps, store = at_least_one("--steps", options.steps), RunStore(options.store)
    (row,) = find_rows([ROW])
    row = replace(row, source=row.source.available())
    run, baseline = row.run(0), row.baseline(0)
    if missing := [one.title for one in (run, baseline) if store.load(one.name) is None]:
        raise InputError(f"--store must hold {ROW} and its baseline, finished; {options.store} is without {missing}")
    _, found = restore_learner(store, run.name)
    _, labelled = restore_learner(store, baseline.name)
    assert isinstance(run.source, ThreeDIdent)
    source = run.source.build(run.seed)
    scored, pairs = evaluations(source, run.seed, "cpu")["test"], pairs_of_test_images(run.source)
    print("| begun | bits of 2048 pairs | R² | of the rotations | of where the lid points | and the spout |")
    print("| --- |" + " --- |" * 5)
    print(line(f"at random, {run.recipe.training.steps} steps", found, scored, pairs), flush=True)
    begin = partial(begin_at, labelled, scored, pairs)
    training = run.recipe.training
    slower = replace(
        training,
        steps=steps,
        learning_rate=training.learning_rate * RATE,
        bias_learning_rate=training.bias_learning_rate * RATE,
        warmup=math.ceil(steps / 10),
    )
    trained = fit(run.learner, replace(run.recipe, training=slower), source, run.seed, prepare=begin)
    print(line(f"where labels end, {steps} steps", trained.learner, scored, pairs))


def begin_at(labelled: Learner, scored: Evaluation, pairs: Pairs, learner: Learner) -> None:
    """Give the learner the network that labels trained, and show what it has."""
    network_of(learner).load_state_dict(network_of(labelled).state_dict())
    print(line("where labels end", learner.eval(), scored, pairs), flush=True)
    learner.train()


if __name__ == "__main__":
    main()
