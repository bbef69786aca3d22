from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np
import pytest
import torch
from small import small_run
from torch import Generator, Tensor

from identica import ContrastiveICA
from identica.assembly import assemble, fit
from identica.encoders import Whitening
from identica.experiments import ROWS, Run, RunStore, execute, plan
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.learners import Contrastive, ContrastiveLearner
from identica.metrics import mcc
from identica.models import Model
from identica.sources import ArrayPairs, Factor, LabelledSource, Layers, SourceSettings, Synthetic
from identica.spaces import Box


def arrays(count: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = Generator().manual_seed(5)
    box = Box(3)
    latents = Marginal(box, Uniform()).sample(count, generator)
    partners = Conditional(box, Laplace(0.1)).sample(latents, generator)
    mixing = Layers().draw(3, generator=generator, draws=50)
    return latents.numpy(), mixing(latents).numpy(), mixing(partners).numpy()


@final
@dataclass(frozen=True)
class Stored(SourceSettings):
    """The same arrays as a source that knows its factors."""

    count: int = 400

    def build(self, seed: int, device: str = "cpu") -> StoredPairs:
        return StoredPairs(*arrays(self.count))


class StoredPairs(LabelledSource):
    factors = (Factor("a"), Factor("b"), Factor("c"))

    def __init__(self, latents: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
        self.latents = torch.from_numpy(latents)
        indices = np.arange(2 * len(first)).reshape(2, -1).T
        self.paired = ArrayPairs(torch.from_numpy(np.concatenate([first, second])), indices)
        self.shape = self.paired.shape

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.paired.pairs(count, generator)

    def distinct_pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.paired.distinct_pairs(count, generator)

    def sample(self, count: int, generator: Generator) -> Tensor:
        return self.paired.sample(count, generator)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        return self.latents[:count], self.paired.observations[: len(self.latents)][:count]


@pytest.mark.parametrize(("space", "conditional"), [("box", "laplace"), ("sphere", "vmf"), ("unbounded", "normal")])
def test_the_estimator_and_the_runner_give_the_same_weights(runs: Path, space: str, conditional: str) -> None:
    _, first, second = arrays()
    estimator = ContrastiveICA(3, space=space, conditional=conditional, widths="free", max_steps=30, random_state=4)
    estimator.fit(first, second)
    learner = Contrastive(Model.named(space, conditional, 3, "free"))
    recipe = learner.recipe("fast").with_steps(30)
    recipe = replace(recipe, training=replace(recipe.training, batch_size=400))
    run = Run(Stored(), learner, recipe, 4)
    record = execute(run, RunStore(runs), device="cpu")
    stored = RunStore(runs).weights(run.name)
    fitted = estimator.encoder_[0].state_dict()
    assert fitted.keys() == {name.removeprefix("encoder.") for name in stored if name.startswith("encoder.")}
    for name, value in fitted.items():
        assert torch.equal(value, stored[f"encoder.{name}"]), name
    assert torch.equal(estimator.encoder_[2].factor, stored["units.factor"])
    assert (stored["scales"].double().numpy() == estimator.scales_).all()
    assert record["fitted"]["conditional"].partition("(")[0] == conditional


def test_rows_that_are_the_same_experiment_share_a_run() -> None:
    first, second, third = (ROWS[name] for name in ("t1-05", "t2-08", "w1-02"))
    assert first.run(0).name == second.run(0).name == third.run(0).name
    (shared,) = plan([first, second, third], [0])
    assert shared.title == "t1-05, t2-08, w1-02"
    assert set(shared.scores) == {"r2", "mcc"}
    assert first.run(0).name != first.run(1).name
    assert len(plan(list(ROWS.values()), [0])) == 65


def test_what_decides_nothing_is_not_in_the_name() -> None:
    run = small_run()
    assert replace(run, title="another", scores=("mcc_spearman",)).name == run.name
    again = replace(run, recipe=replace(run.recipe, training=replace(run.recipe.training, learning_rate=0.5)))
    assert again.name != run.name


def test_threads_and_random_state_are_left_as_they_were(runs: Path) -> None:
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    torch.set_num_threads(2)
    try:
        execute(small_run(), RunStore(runs), device="cpu")
        assert torch.get_num_threads() == 2
        assert torch.equal(torch.rand(3), expected)
    finally:
        torch.set_num_threads(1)


class Heavy(StoredPairs):
    """Observations so large that a full sample of them would not fit into memory."""

    def __init__(self) -> None:
        self.shape = (3, 512, 512)
        self.asked: list[int] = []

    def sample(self, count: int, generator: Generator) -> Tensor:
        self.asked.append(count)
        return torch.rand(2, *self.shape, generator=generator)


def test_large_sources_are_whitened_from_a_sample_of_bounded_size() -> None:
    source, learner = Heavy(), Contrastive(Model(Box(2), "laplace"))
    recipe = learner.recipe("fast")
    assemble(learner, replace(recipe, encoder=replace(recipe.encoder, network="resnet")), source, 0)
    assert 2 <= source.asked[0] <= 100


@pytest.mark.parametrize("row", ["t2-01", "t1-02"])
def test_a_short_run_of_the_recipe_reaches_its_score(row: str) -> None:
    """Breaking a part of the recipe breaks this: without it, scores at this length are lower by points."""
    learner, source = ROWS[row].learner, ROWS[row].source
    assert isinstance(source, Synthetic)
    small = replace(source, space=type(source.space)(5))
    assert isinstance(learner, Contrastive)
    learner = Contrastive(replace(learner.model, space=type(learner.model.space)(5)))
    built = small.build(0)
    found = fit(learner, learner.recipe("fast").with_steps(400), built, 0)
    assert isinstance(found.learner, ContrastiveLearner)
    assert isinstance(found.learner.encoder.whitening, Whitening)
    latents, observations = built.with_factors(2000, Generator().manual_seed(1))
    with torch.no_grad():
        codes = found.learner.codes(observations)
    from identica.metrics import linear_r2

    score = mcc(latents, codes) if row == "t2-01" else linear_r2(latents, codes)
    print(row, score.value)
    assert score.value > {"t2-01": 0.985, "t1-02": 0.985}[row]
