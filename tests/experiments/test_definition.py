from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from identica._checks import InputError
from identica.experiments import ROWS, Row, Run, find_rows, rows_of_table
from identica.experiments.runner import make_process
from identica.laws import Laplace, VonMisesFisher
from identica.models import Model
from identica.objectives import DotProduct, PowerDistance
from identica.spaces import Box, Sphere


def test_all_tables_are_there() -> None:
    assert [len(rows_of_table(name)) for name in ("1", "2", "workshop1")] == [12, 10, 12]
    assert len(ROWS) == 34
    for row in ROWS.values():
        assert row.identity is not None
        assert row.supervised is not None
        assert row.unsupervised is not None
        assert row.space.dim == 10


def test_some_rows_by_hand() -> None:
    laplace, harder = find_rows(["t2-01", "t1-11"])
    assert str(laplace.conditional) == "laplace(scale=0.05)"
    assert laplace.unsupervised == (98.62, 0.05)
    assert laplace.metric == "mcc"
    assert laplace.matches_theory
    assert (harder.process, harder.model.space) == ("unbounded, laplace(scale=1), normal(sigma=1)", "unbounded")
    assert harder.metric == "r2"


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
            assert list(row.identity or ()) == identity
            assert list(row.supervised or ()) == base["supervised"]
            assert list(row.unsupervised or ()) == entry["unsupervised"]
            assert row.model.space == entry["model_space"]
            assert row.matches_theory == entry.get("matches_theory", row.matches_theory)
            if table != "workshop1":
                assert row.id == entry["id"]
                assert str(row.conditional) == entry["conditional"]
                assert str(row.marginal) == entry["marginal"]
                assert row.model.conditional == entry["model_conditional"]


def test_models_choose_their_similarity() -> None:
    assert Model("sphere", "vmf").similarity == DotProduct()
    assert Model("box", "laplace").similarity == PowerDistance(1.0)
    assert Model("box", "normal").similarity == PowerDistance(2.0)
    assert Model("unbounded", "gennorm(beta=4)").similarity == PowerDistance(4.0)


def test_the_paper_protocol_is_the_authors() -> None:
    protocol = ROWS["t2-03"].protocol("paper")
    assert protocol.widths == (100, 500, 500, 500, 500, 100)
    assert (protocol.batch_size, protocol.optimizer, protocol.learning_rate) == (6144, "adam", 1e-4)
    assert (protocol.steps, protocol.whiten, protocol.cosine, protocol.slope) == (300_000, "no", False, 0.01)
    assert ROWS["t2-03"].protocol("paper", supervised=True).steps == 100_000


def test_the_fast_protocol_looks_at_the_model_alone() -> None:
    by_model = {}
    for row in ROWS.values():
        by_model.setdefault(row.model, set()).add(row.protocol("fast"))
    assert all(len(protocols) == 1 for protocols in by_model.values())


def test_the_fast_protocol_starts_with_unrelated_codes_twelve_apart(generator: torch.Generator) -> None:
    for alpha, dim in ((1.0, 10), (2.0, 5), (2.0, 20)):
        row = Row("own", Box(dim), Laplace(0.1), Model("unbounded", f"gennorm(beta={alpha:g})"), "mcc")
        codes = row.protocol("fast").scale_start * torch.rand(2, 20_000, dim, generator=generator)
        assert -PowerDistance(alpha).paired(codes[0], codes[1]).mean() == pytest.approx(12.0, rel=0.02)


def test_exponents_above_two_are_lowered_at_first() -> None:
    process = make_process(Run(ROWS["t2-02"], 0, ROWS["t2-02"].protocol("paper")))
    task = ROWS["t2-02"].protocol("fast").task(ROWS["t2-02"].model, process)
    assert task.first_objective is not None
    assert task.first_objective.similarity == PowerDistance(2.0)
    assert task.objective.similarity == PowerDistance(3.0)
    assert 0 < task.first_until < 0.5
    assert ROWS["t2-01"].protocol("fast").task(ROWS["t2-01"].model, process).first_objective is None
    assert ROWS["t2-02"].protocol("paper").quadratic_until == 0


def test_a_run_is_named_by_its_settings() -> None:
    row = ROWS["t2-01"]
    protocol = row.protocol("fast")
    names = {
        Run(row, 0, protocol).name,
        Run(row, 1, protocol).name,
        Run(row, 0, protocol.with_steps(5)).name,
        Run(row, 0, protocol, supervised=True).name,
        Run(ROWS["t2-04"], 0, protocol).name,
    }
    assert len(names) == 5
    assert Run(row, 0, protocol).name == Run(row, 0, row.protocol("fast")).name
    # Rows with the same process, marginal and model space share their supervised baseline.
    assert Run(row, 0, protocol, True).name == Run(ROWS["t2-04"], 0, protocol, True).name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: find_rows(["t1-99"]), "unknown row 't1-99': did you mean 't1-0"),
        (lambda: rows_of_table("3"), "unknown table '3'"),
        (lambda: Model("box", "vmf"), "the vmf model needs the sphere as model space, got 'box'"),
        (lambda: Model("torus", "laplace"), "unknown model space 'torus'"),
        (lambda: Model("box", "lapace"), "unknown model conditional 'lapace': did you mean 'laplace'?"),
        (lambda: Model("box", "gennorm(beta=0.5)"), "alpha must be at least 1, got 0.5"),
        (lambda: Row("r", Box(3), VonMisesFisher(1), Model("box", "laplace"), "mcc"), "lives on a sphere"),
        (
            lambda: Row("r", Sphere(3), Laplace(1), Model("sphere", "vmf"), "r2", observed=2),
            "at least the 3 latents, got 2",
        ),
        (lambda: ROWS["t1-01"].protocol("slow"), "unknown protocol 'slow'"),
        (
            lambda: ROWS["t1-01"].protocol("fast").with_steps(0),
            "steps must be a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_definitions_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)
