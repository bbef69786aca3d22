from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small import ROW

from identica._checks import InputError
from identica.experiments import ROWS, Changes, Reference, Row, Run, find_rows, plan, rows_of_record, rows_of_table
from identica.learners import AlignUniform, BetaVAE, Contrastive, LearnerSettings, Supervised
from identica.models import Model
from identica.recipes import Recipe
from identica.sources import DSprites, KittiMasks, NaturalSprites, Synthetic
from identica.spaces import Box


def parts(row: Row) -> tuple[Synthetic, Model]:
    """What the paper varies: the source, and the model."""
    assert isinstance(row.source, Synthetic)
    assert isinstance(row.learner, Contrastive)
    return row.source, row.learner.model


SYNTHETIC = ("1", "2", "workshop1")
SYNTHETIC_ROWS = [row for table in SYNTHETIC for row in rows_of_table(table)]
SPRITES = {
    "workshop2": "workshop_table2_dsprites",
    "workshop3": "workshop_table3_natural_sprites_discrete",
    "workshop4": "workshop_table4_natural_sprites_continuous",
}
KITTI = {"3": "icml_table3_kitti_masks", "workshop5": "workshop_table5_kitti_masks"}


def test_all_tables_are_there() -> None:
    assert [len(rows_of_table(name)) for name in SYNTHETIC] == [12, 10, 12]
    assert [len(rows_of_table(name)) for name in SPRITES] == [8, 4, 4]
    assert [len(rows_of_table(name)) for name in KITTI] == [10, 7]
    assert [len(rows_of_table(name)) for name in ("4", "5")] == [5, 5]
    assert len(ROWS) == 60 + 17 + 8 + 2
    for row in SYNTHETIC_ROWS:
        assert row.reference("identity") is not None
        assert row.reference("supervised") is not None
        assert row.reference("unsupervised") is not None
        source, model = parts(row)
        assert source.space.dim == model.space.dim == 10


def test_some_rows_by_hand() -> None:
    laplace, harder = find_rows(["t2-01", "t1-11"])
    assert str(parts(laplace)[0].conditional) == "laplace(scale=0.05)"
    assert laplace.reference("unsupervised") == (98.62, 0.05)
    assert laplace.reference("unsupervised", "mcc") == (98.62, 0.05)
    assert laplace.reference("unsupervised", "r2") is None
    assert laplace.score == "mcc"
    assert laplace.matches_theory
    source, model = parts(harder)
    assert (str(source), model.space.name) == ("unbounded, laplace(scale=1), normal(sigma=1)", "unbounded")
    assert harder.score == "r2"


def test_a_number_of_pairs_is_that_of_images_twice_with_labels_alone() -> None:
    changes = Changes(pairs=24, with_labels=Changes(pairs=10))
    settings: dict[LearnerSettings, int] = {
        Contrastive(Model(Box(3), "normal")): 24,
        AlignUniform(): 24,
        BetaVAE(): 24,
        Supervised(Box(3)): 20,
    }
    for learner, batch in settings.items():
        recipe = changes.apply(learner.recipe_for("fast", images=True), learner)
        assert recipe.training.batch_size == batch


def published() -> Path:
    """The printed tables as data, where a checkout of them lies beside the data folder."""
    return Path(os.environ.get("IDENTICA_DATA", "/nonexistent")).parent / "paper" / "tables.json"


@pytest.mark.skipif(not published().exists(), reason="the published tables are not at hand")
def test_scores_are_the_published_ones() -> None:
    tables = json.loads(published().read_text())
    for key, table in (("icml_table1", "1"), ("icml_table2", "2"), ("workshop_table1", "workshop1")):
        shared = {entry["id"]: entry for entry in tables[key]["rows"] if "id" in entry}
        for row, entry in zip(rows_of_table(table), tables[key]["rows"], strict=True):
            base = shared.get(entry.get("same_as"), entry)
            identity = base.get("identity", base.get("linear"))
            source, model = parts(row)
            assert list(row.reference("identity") or ()) == identity
            assert list(row.reference("supervised") or ()) == base["supervised"]
            assert list(row.reference("unsupervised") or ()) == entry["unsupervised"]
            assert model.space.name == entry["model_space"]
            assert row.matches_theory == entry.get("matches_theory", row.matches_theory)
            if table != "workshop1":
                assert row.id == entry["id"]
                assert str(source.conditional) == entry["conditional"]
                assert str(source.marginal) == entry["marginal"]
                assert model.conditional == entry["model_conditional"]


@pytest.mark.skipif(not published().exists(), reason="the published tables are not at hand")
def test_scores_of_sprites_are_the_published_ones() -> None:
    tables = json.loads(published().read_text())
    for name, key in SPRITES.items():
        columns = tables[key].get("columns", ["mcc"])
        for row, entry in zip(rows_of_table(name), tables[key]["rows"], strict=True):
            scores = entry.get("scores", [entry.get("mcc")])
            for column, score in zip(columns, scores, strict=True):
                named = "mcc_spearman" if column == "mcc" else column
                assert row.reference("unsupervised", named) == tuple(score)
            assert str(row.learner).replace("β", "beta") == entry["model"]
            assert isinstance(row.source, NaturalSprites) or row.source.pairs == entry["pairs"]


@pytest.mark.skipif(not published().exists(), reason="the published tables are not at hand")
def test_scores_of_masks_are_the_published_ones() -> None:
    tables = json.loads(published().read_text())
    for name, key in KITTI.items():
        for place, (row, entry) in enumerate(zip(rows_of_table(name), tables[key]["rows"], strict=True), start=1):
            assert row.id == f"{'t3' if name == '3' else 'w5'}-{place:02}"
            assert row.reference("unsupervised", "mcc_spearman") == tuple(entry["mcc"])
            assert row.score == "mcc_spearman"
            wanted = entry["model"] if "space" not in entry else f"{entry['space']}, {entry['model']}"
            assert str(row.learner).replace("β", "beta") == wanted.replace("unbounded, SlowVAE", "SlowVAE")
            assert isinstance(row.source, KittiMasks)
            assert row.source.max_lag == (
                5 if "5" in str(entry["delta_t"]).replace("0.05", "").replace("0.15", "") else 1
            )


def test_rows_of_our_own_have_free_widths_and_nothing_published() -> None:
    ours, paper = rows_of_table("3-widths"), [row for row in rows_of_table("3") if isinstance(row.learner, Contrastive)]
    assert [row.id for row in ours] == [f"t3-w{number}" for number in range(1, 9)]
    for row, same in zip(ours, paper, strict=True):
        assert row.reference("unsupervised") is None
        assert isinstance(row.learner, Contrastive)
        assert row.source == same.source
        assert replace(row.learner.model, widths="equal") == same.learner.model
        assert row.learner.model.has_free_widths
        ours_encoder, paper_encoder = row.run(0).recipe.encoder, same.run(0).recipe.encoder
        assert replace(paper_encoder, normalise_codes=True, free_widths=True) == ours_encoder
        assert not paper_encoder.normalise_codes
        assert row.run(0).recipe.training.width_learning_rate > 0
        assert not row.baseline(0).recipe.encoder.free_widths


def test_records_of_a_part_of_the_data_belong_to_the_row_of_the_whole() -> None:
    row = ROWS["w2-05"]
    for data in ("full", "downsampled", "subset"):
        run = replace(row, source=DSprites("LAP", data)).run(0)
        assert [found.id for found in rows_of_record({"settings": run.settings})] == ["w2-05"]
    assert rows_of_record({"settings": replace(row, source=DSprites("LAP", rate=2.0)).run(0).settings}) == []


def test_records_of_masks_from_annotations_belong_to_the_row_of_the_released_ones() -> None:
    record = {"settings": replace(ROWS["t3-06"], source=KittiMasks(5, "annotations")).run(0).settings}
    assert [found.id for found in rows_of_record(record)] == ["t3-06", "w5-05"]


def test_the_fast_protocol_looks_at_the_model_alone() -> None:
    by_model: dict[Model, set[Recipe]] = {}
    for row in SYNTHETIC_ROWS:
        by_model.setdefault(parts(row)[1], set()).add(row.run(0).recipe)
    assert all(len(recipes) == 1 for recipes in by_model.values())


def test_a_run_is_named_by_its_settings() -> None:
    row, other = ROWS["t2-01"], ROWS["t2-04"]
    names = {
        row.run(0).name,
        row.run(1).name,
        row.run(0, steps=5).name,
        row.baseline(0).name,
        other.run(0).name,
    }
    assert len(names) == 5
    assert row.run(0).name == Run(row.source, row.learner, row.learner.recipe("fast"), 0).name
    # Neither what a table calls it nor its scores decide the result.
    assert row.run(0).name == Run(row.source, row.learner, row.learner.recipe("fast"), 0, "own", ("r2",)).name
    # Rows with the same latents, marginal and model space share their supervised baseline.
    assert row.baseline(0).name == other.baseline(0).name
    assert row.run(0).baseline == other.run(0).baseline == row.baseline(0).baseline


def test_a_plan_has_each_run_once() -> None:
    rows = find_rows(["t1-05", "t2-08", "t2-06"])  # the first two are one experiment
    runs = plan(rows, [0, 1])
    assert [(run.title, run.seed) for run in runs] == [
        ("t1-05, t2-08", 0),
        ("t1-05, t2-08", 1),
        ("t2-06", 0),
        ("t2-06", 1),
    ]
    assert [run.scores for run in runs[::2]] == [("r2", "mcc"), ("mcc", "r2")]
    with_labels = plan(rows, [0], supervised=True, steps=7)
    assert [run.learner.kind for run in with_labels] == ["unsupervised", "supervised", "unsupervised"]
    assert {run.recipe.training.steps for run in with_labels} == {7}


def test_a_record_finds_its_rows() -> None:
    record = {"settings": ROWS["t1-05"].run(3, "paper", 5).settings}
    assert [row.id for row in rows_of_record(record)] == ["t1-05", "t2-08", "w1-02"]
    assert rows_of_record({"settings": ROWS["t1-05"].baseline(3).settings}) == []
    assert rows_of_record({"settings": ROW.run(0).settings}) == []
    assert rows_of_record({"settings": ROW.run(0).settings}, {"mine": ROW}) == [ROW]


def test_a_row_of_ones_own_has_no_reference() -> None:
    assert ROW.reference("unsupervised") is None
    assert Reference(98.0, 0.1).mean == 98.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: find_rows(["t1-99"]), "unknown row 't1-99': did you mean 't1-0"),
        (lambda: rows_of_table("9"), "unknown table '9'"),
        (lambda: ROWS["t1-01"].run(0, "slow"), "unknown protocol 'slow'"),
        (lambda: ROWS["t1-01"].run(0, steps=0), "steps must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_definitions_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
