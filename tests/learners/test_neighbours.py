from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from scenes import write_data_set
from torch import Generator, Tensor

from identica._checks import InputError
from identica._random import random_stream
from identica.assembly import assemble, fit
from identica.experiments import Run, find_rows
from identica.laws import Normal
from identica.learners import Contrastive, ContrastiveLearner
from identica.learners._neighbours import Neighbourhoods
from identica.models import Model
from identica.recipes import Recipe
from identica.sources import ScenePairs, Synthetic, ThreeDIdent
from identica.spaces import Box
from identica.training import Schedule, make_optimizers, train


def on_a_line(count: int, size: int) -> Neighbourhoods:
    found = Neighbourhoods(count, 1, size)
    found.remember(torch.arange(count), torch.arange(count).float()[:, None])
    return found


def test_anchors_of_a_batch_are_next_to_one_another(generator: Generator) -> None:
    rows = on_a_line(1000, 8).draw(32, generator)
    assert rows.shape == (32,)
    for group in rows.split(8):
        assert int(group.max() - group.min()) <= 8
    assert int(rows.max() - rows.min()) > 50  # groups are anywhere


def test_the_last_neighbourhood_is_cut_and_all_sizes_fit(generator: Generator) -> None:
    assert on_a_line(1000, 8).draw(20, generator).shape == (20,)
    assert sorted(on_a_line(5, 8).draw(5, generator).tolist()) == list(range(5))


def test_until_half_of_all_anchors_were_seen_they_are_drawn_by_chance() -> None:
    made = Neighbourhoods(1000, 1, 16)
    made.remember(torch.arange(499), torch.arange(499).float()[:, None])
    rows = made.draw(64, Generator().manual_seed(0))
    assert torch.equal(rows, torch.randint(1000, (64,), generator=Generator().manual_seed(0)))
    made.remember(torch.tensor([499]), torch.tensor([[499.0]]))
    assert not torch.equal(made.draw(64, Generator().manual_seed(0)), rows)


def test_those_that_were_not_seen_come_together(generator: Generator) -> None:
    made = Neighbourhoods(1000, 2, 10)
    made.remember(torch.arange(600), torch.rand(600, 2, generator=generator))
    groups = [set((rows >= 600).tolist()) for rows in made.draw(2000, generator).split(10)]
    assert all(len(group) == 1 for group in groups)
    assert {True} in groups


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScenePairs:
    pytest.importorskip("faiss")
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "data"))
    write_data_set(tmp_path / "data")
    return ThreeDIdent(Normal(0.1), "laptop").build(0)


def first_run(row: str) -> Run:
    """The run of a row that draws from the images: that of its wide codes, if it has such."""
    run = find_rows([row])[0].run(0)
    return run.of_wide_codes or run


def recipe_with(neighbours: int, row: str = "t4-02") -> Recipe:
    recipe = first_run(row).recipe
    assert recipe.contrastive is not None
    training = replace(recipe.training, batch_size=16, steps=30)
    return replace(recipe, training=training, contrastive=replace(recipe.contrastive, neighbours=neighbours))


def trained(source: ScenePairs, path: Path | None, row: str = "t4-02") -> ContrastiveLearner:
    recipe = recipe_with(4, row)
    learner = assemble(first_run(row).learner, recipe, source, 0)
    assert isinstance(learner, ContrastiveLearner)
    with learner.reading(source) as read:
        train(
            learner,
            read,
            make_optimizers(learner, recipe.training),
            Schedule(30, 0, False),
            batch_size=16,
            generator=random_stream(0, "batches"),
            device="cpu",
            checkpoint=path,
            checkpoint_seconds=0.0,
        )
    return learner


@pytest.mark.parametrize("row", ["t4-01", "t4-02"])
def test_a_run_that_was_cut_off_remembers_what_was_near(
    row: str, source: ScenePairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, draw, drawn = tmp_path / "checkpoint.safetensors", ContrastiveLearner.batch, []

    def broken(learner: ContrastiveLearner, *words: Any) -> tuple[Tensor, ...]:
        drawn.append(words)
        if len(drawn) == 20:
            raise OSError("the disk is gone")
        return draw(learner, *words)

    with monkeypatch.context() as patch:
        patch.setattr(ContrastiveLearner, "batch", broken)
        with pytest.raises(OSError, match="the disk is gone"):
            trained(source, path, row)
    assert path.exists()
    resumed, whole = trained(source, path, row), trained(source, None, row)
    for one, other in zip(resumed.parameters(), whole.parameters(), strict=True):
        assert torch.equal(one, other)


def test_what_is_remembered_is_forgotten_after_training(source: ScenePairs) -> None:
    learner = fit(first_run("t4-02").learner, recipe_with(4), source, 0).learner
    assert not any("neighbour" in name for name in learner.state_dict())


def test_batches_of_neighbours_are_harder(source: ScenePairs) -> None:
    learner = trained(source, None)
    losses: dict[int, list[float]] = {0: [], 8: []}
    for size, found in losses.items():
        generator = Generator().manual_seed(0)
        learner.settings = replace(learner.settings, neighbours=size)
        with learner.reading(source) as read, torch.no_grad():
            if learner.neighbourhoods is not None:
                images = torch.cat(list(source.training.floats(torch.arange(200)).split(50)))
                learner.neighbourhoods.remember(torch.arange(200), learner.encoder.unstretched(images))
            for _ in range(20):
                batch: tuple[Tensor, ...] = learner.batch(read, 16, generator)
                assert len(batch) == (3 if size else 2)
                found.append(float(learner(*batch)))
    assert sum(losses[8]) > sum(losses[0])


def test_a_source_without_numbers_is_refused() -> None:
    model = Model(Box(2), "normal")
    recipe = Contrastive(model).recipe("fast")
    assert recipe.contrastive is not None
    changed = replace(recipe, contrastive=replace(recipe.contrastive, neighbours=4))
    with pytest.raises(InputError, match="neighbours must be 0 unless the source numbers its observations, got 4 with"):
        fit(Contrastive(model), changed, Synthetic(Box(2), Normal(0.1)).build(0), 0)
