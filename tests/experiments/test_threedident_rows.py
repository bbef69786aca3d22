from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scenes import write_data_set
from test_definition import published

from identica._checks import InputError
from identica.experiments import Run, RunStore, find_rows, plan, rows_of_record, rows_of_table, traverse_run
from identica.experiments.restore import restore_learner
from identica.learners import Contrastive
from identica.sources import ThreeDIdent

CommandLine = Callable[..., tuple[int, str, str]]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("IDENTICA_COMPILE", "0")
    write_data_set(tmp_path / "data")
    return tmp_path / "data"


def tiny_run(row: str, steps: int) -> Run:
    """The run of a row on the images that are there."""
    (found,) = find_rows([row])
    return replace(found, source=found.source.available()).run(0, steps=steps)


@pytest.mark.skipif(not published().exists(), reason="the published tables are not at hand")
def test_rows_are_the_published_ones() -> None:
    tables = json.loads(published().read_text())
    for name, key in (("4", "icml_table4_3dident_test"), ("5", "icml_table5_3dident_train")):
        for place, (row, entry) in enumerate(zip(rows_of_table(name), tables[key]["rows"], strict=True), start=1):
            assert row.id == f"t{name}-{place:02d}"
            assert list(row.reference("identity", "r2") or ()) == tables[key]["identity_r2"]
            for score in ("r2", "mcc"):
                assert list(row.reference("unsupervised", score) or ()) == entry[score]
                assert list(row.reference("supervised", score) or ()) == tables[key]["supervised"][score]
            assert isinstance(row.source, ThreeDIdent)
            assert isinstance(row.learner, Contrastive)
            assert str(row.source.pairs).partition("(")[0] == entry["conditional"].removeprefix("SimCLR ")
            assert row.learner.model.space.name == entry["model_space"]
            assert row.learner.model.conditional == entry["model_conditional"]
            assert row.matches_theory == entry.get("matches_theory", row.matches_theory)


def test_a_row_of_table_5_is_the_run_of_table_4() -> None:
    (shared,) = plan(find_rows(["t4-03", "t5-03"]), [0])
    assert shared.title == "t4-03, t5-03"
    settings = {"settings": replace(shared, source=ThreeDIdent(shared.source.pairs, "laptop")).settings}  # type: ignore[attr-defined]
    assert [row.id for row in rows_of_record(settings)] == ["t4-03", "t5-03"]


def test_the_papers_protocol_is_that_of_its_appendix() -> None:
    row = find_rows(["t4-01"])[0]
    contrastive, supervised = row.run(0, "paper").recipe, row.baseline(0, "paper").recipe
    for recipe, batch in ((contrastive, 512), (supervised, 1024)):
        assert (recipe.training.batch_size, recipe.training.steps) == (batch, 200_000)
        assert (recipe.training.optimizer, recipe.training.learning_rate) == ("adam", 1e-4)
        assert recipe.encoder.network == "resnet"


def test_the_fast_protocol_trains_on_strangers_that_are_alike_and_the_baseline_on_few_images() -> None:
    row, other, laplace, sphere, views = find_rows([f"t4-0{number}" for number in range(1, 6)])
    recipe, labelled = row.run(0).recipe, row.baseline(0).recipe
    assert recipe.contrastive is not None
    assert (recipe.contrastive.in_batch, recipe.contrastive.neighbours) == ("both", 64)
    assert recipe.wide is not None
    assert (recipe.wide.count, recipe.wide.starts) == (24, 3)
    assert (recipe.training.batch_size, recipe.training.steps) == (128, 5000)
    assert [one.run(0).recipe.training.steps for one in (other, laplace, sphere, views)] == [5000, 5000, 2000, 1000]
    assert [one.run(0).recipe.wide for one in (sphere, views)] == [None, None]
    assert (labelled.training.batch_size, labelled.training.steps) == (32, 30_000)
    assert (recipe.encoder.network, labelled.encoder.network) == ("glimpse", "light")
    published_recipe = row.run(0, "paper").recipe
    paper = published_recipe.contrastive
    assert paper is not None
    assert (paper.in_batch, paper.neighbours, published_recipe.wide) == ("anchors", 0, None)
    assert other.baseline(0).name == row.baseline(0).name  # rows share it


def test_a_tiny_set_goes_all_the_way(data: Path, command_line: CommandLine) -> None:
    pytest.importorskip("faiss")
    words = ("--steps", "5", "--out", "runs", "--json")
    code, out, _ = command_line("reproduce", "t4-01", "t5-01", "--supervised", *words)
    assert code == 0
    records = {record["kind"]: record for record in map(json.loads, out.splitlines())}
    store = RunStore(Path("runs"))
    for record in records.values():
        assert record["source"].startswith("3DIdent (200 images of 16 × 16)")
        for scores in (record["scores"], record["training_scores"]):
            assert set(scores) == {"r2", "mcc"}
            assert len(scores["r2"]["per_factor"]) == 10
        assert record["scores"] != record["training_scores"]
    assert len(records["unsupervised"]["fitted"]["bits_of_starts"]) == 3
    assert not list(store.root.glob("*/checkpoint*"))
    arrays = store.arrays(tiny_run("t4-01", 5).name)
    assert arrays["codes"].shape == arrays["training_codes"].shape == (60, 10)
    lines = json.loads(command_line("table", "runs", "--format", "json")[1])
    assert [line["row"] for line in lines] == ["t4-01", "t5-01"]
    for line, part in zip(lines, ("scores", "training_scores"), strict=True):
        assert line["unsupervised"]["mean"] == records["unsupervised"][part]["r2"]["value"]
        assert line["supervised"]["mean"] == records["supervised"][part]["r2"]["value"]
        assert line["other"]["mean"] == records["unsupervised"][part]["mcc"]["value"]


def test_rows_of_the_same_pairs_share_their_wide_codes(data: Path, command_line: CommandLine) -> None:
    pytest.importorskip("faiss")
    words = ("--steps", "1", "--out", "runs", "--json", "--jobs", "2")
    code, out, _ = command_line("reproduce", "t4-01", "t4-02", *words)
    assert code == 0
    assert len(out.splitlines()) == 2
    store, runs = RunStore(Path("runs")), [tiny_run(row, 1) for row in ("t4-01", "t4-02")]
    shared = {run.of_wide_codes.name for run in runs if run.of_wide_codes is not None}
    assert len(shared) == 1
    assert set(store.names()) == {run.name for run in runs} | shared
    weights = [store.weights(run.name) for run in runs]
    (wide,) = (store.weights(name) for name in shared)
    for name, value in wide.items():
        if name.startswith("encoder."):
            assert all(torch.equal(one[f"encoder.wide.{name.removeprefix('encoder.')}"], value) for one in weights)
    for run in runs:
        _, learner = restore_learner(store, run.name)
        assert isinstance(run.source, ThreeDIdent)
        images = run.source.read("test").floats(torch.arange(60))
        np.testing.assert_allclose(
            learner.codes(images).detach(), store.arrays(run.name)["codes"], rtol=1e-4, atol=1e-4
        )
        record = store.load(run.name)
        assert record is not None
        assert [point["step"] for point in record["curve"]][-1] == 10  # ten short steps for each long one
    lines = json.loads(command_line("table", "runs", "--format", "json")[1])
    assert {line["row"] for line in lines} == {f"t{table}-0{row}" for table in (4, 5) for row in (1, 2)}


def test_views_can_be_trained_on(data: Path, command_line: CommandLine) -> None:
    pytest.importorskip("kornia")
    code, out, _ = command_line("reproduce", "t4-05", "--steps", "2", "--json")
    assert code == 0
    assert json.loads(out)["source"] == "3DIdent (200 images of 16 × 16), augmentations"


def test_figure_3_shows_what_a_row_recovers(data: Path, command_line: CommandLine) -> None:
    pytest.importorskip("faiss")
    words = ("--row", "t4-01", "--seed", "3", "--steps", "2", "--images", "3", "--json")
    code, out, _ = command_line("figure", "3", "--nearest", *words)
    assert code == 0
    found = json.loads(out)
    assert found["values"] == [-1, 0, 1]
    assert [one["latent"] for one in found["latents"]][:3] == ["x", "y", "z"]
    assert sorted(one["component"] for one in found["latents"]) == list(range(1, 11))
    assert all(len(one["recovered"]) == 3 for one in found["latents"])
    assert len(np.unique([one["recovered"] for one in found["latents"]])) > 10
    assert {path.suffix for path in Path("figure3").glob("figure3.*")} == {".pdf", ".png", ".json"}
    assert {record["seed"] for record in RunStore(Path("figure3")).records()} == {3}
    assert command_line("figure", "3", "--nearest", "--row", "t1-01")[0] == 2


def test_the_report_of_a_row_has_figure_3(data: Path, command_line: CommandLine) -> None:
    pytest.importorskip("faiss")
    code, _, err = command_line("reproduce", "t4-01", "--steps", "1", "--out", "runs", "--report", "--quiet")
    assert code == 0, err
    store, name = RunStore(Path("runs")), tiny_run("t4-01", 1).name
    page = (store.root / name / "report.html").read_text(encoding="utf-8")
    assert 'id="along"' in page
    assert all(page.count(f'alt="{latent} at ') == 7 for latent in ("x", "rotation 3", "ground hue"))
    found = traverse_run(store, name)
    assert found is not None
    traversal, recovered = found
    assert traversal.images.shape == (10, 7, 16, 16, 3)
    assert recovered.codes.shape == (10, 7, 10)
    wide = tiny_run("t4-01", 1).of_wide_codes
    assert wide is not None
    with_spare = traverse_run(store, wide.name)
    assert with_spare is not None
    assert with_spare[1].codes.shape == (10, 7, 24)
    assert traverse_run(store, "no such run") is None


def test_missing_images_are_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_line: CommandLine
) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "nothing"))
    code, _, said = command_line("reproduce", "t4-01")
    assert code == 2
    assert "identica render --count 50000 --size 64" in said
    code, _, said = command_line("reproduce", "t4-01", "--size", "paper")
    assert "the released set goes there, or `identica render --count 250000 --size 224" in said
    with pytest.raises(InputError, match="can be rendered outright"):
        find_rows(["t2-01"])[0].source.rendered()
