from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identica._checks import InputError
from identica.experiments import ROWS, Row
from identica.laws import Laplace
from identica.learners import Contrastive
from identica.models import Model
from identica.report import make_table, plot_factors
from identica.sources import DSprites, Synthetic
from identica.spaces import Box, Sphere

OWN = Row("own", Synthetic(Box(10), Laplace(0.3)), Contrastive(Model(Box(10), "laplace")))


def record(
    row: str | Row = "t2-01",
    seed: int = 0,
    kind: str = "unsupervised",
    steps: int = 10,
    seconds: float = 100.0,
    **scores: float,
) -> dict[str, Any]:
    """What a run of a row would have given."""
    row = ROWS[row] if isinstance(row, str) else row
    run = row.run(seed, steps=steps) if kind == "unsupervised" else row.baseline(seed, steps=steps)
    values = {"r2": 90.0, "mcc": 95.0} | scores
    return {
        "kind": kind,
        "source": str(run.source),
        "learner": str(run.learner),
        "identified_up_to": run.learner.ambiguity,
        "baseline": run.baseline,
        "protocol": "fast",
        "steps": steps,
        "seed": seed,
        "settings": run.settings,
        "scores": {name: {"value": value} for name, value in values.items()},
        "identity": {"r2": 70.0, "mcc": 45.0},
        "seconds": seconds,
    }


def test_seeds_are_averaged_and_set_against_the_paper() -> None:
    records = [record(mcc=98.0), record(seed=1, mcc=99.0, seconds=200.0), record(kind="supervised", mcc=99.9)]
    (line,) = json.loads(make_table(records, "json"))
    assert line["unsupervised"] == {"mean": 98.5, "deviation": pytest.approx(0.7071, abs=1e-3), "seeds": 2}
    assert line["paper_unsupervised"]["mean"] == 98.62
    assert line["supervised"]["mean"] == 99.9
    assert line["identity"]["mean"] == 45.0
    assert line["seconds"] == 150.0


def test_rows_come_in_the_order_of_the_paper_and_r2_rows_show_r2() -> None:
    table = make_table([record("t2-01"), record("t1-02", r2=88.0)], "json")
    first, second, third = json.loads(table)
    assert (first["row"], first["metric"], first["unsupervised"]["mean"]) == ("t1-02", "r2", 88.0)
    assert second["row"] == "t2-01"
    assert third["row"] == "w1-03"  # the experiment of t1-02, in the workshop's table


def test_an_experiment_of_two_rows_stands_in_both_lines() -> None:
    lines = json.loads(make_table([record("t1-05", r2=88.0, mcc=77.0)], "json"))
    found = {line["row"]: (line["metric"], line["unsupervised"]["mean"], line["other"]["mean"]) for line in lines}
    assert found == {"t1-05": ("r2", 88.0, 77.0), "t2-08": ("mcc", 77.0, 88.0), "w1-02": ("r2", 88.0, 77.0)}
    assert {line["row"]: line["paper_unsupervised"]["mean"] for line in lines} == {
        "t1-05": 99.60,
        "t2-08": 58.26,
        "w1-02": 99.52,
    }


def test_both_scores_are_shown() -> None:
    rows = {"t2-08": ROWS["t2-08"]}
    (line,) = json.loads(make_table([record("t2-08", r2=99.5, mcc=60.0)], "json", rows))
    assert (line["unsupervised"]["mean"], line["other_metric"], line["other"]["mean"]) == (60.0, "r2", 99.5)
    assert "R² 99.50" in make_table([record("t2-08", r2=99.5, mcc=60.0)])


def test_experiments_of_ones_own_are_told_apart() -> None:
    large = Row("own", Synthetic(Box(20), Laplace(0.3), observed=40), Contrastive(Model(Box(20), "laplace")))
    records = [record(OWN), record(OWN, seed=1), record(large)]
    first, second = json.loads(make_table(records, "json"))
    assert {first["row"], second["row"]} == {"own"}
    assert sorted([first["unsupervised"]["seeds"], second["unsupervised"]["seeds"]]) == [1, 2]
    assert sum("N = 20, K = 40" in line["process"] for line in (first, second)) == 1
    assert first["paper_unsupervised"] is None


def test_experiments_of_ones_own_show_first_what_the_theory_is_about() -> None:
    up_to_a_rotation = Row("own", Synthetic(Sphere(10), Laplace(0.3)), Contrastive(Model(Sphere(10), "vmf")))
    for row, metric in ((OWN, "mcc"), (up_to_a_rotation, "r2")):
        (line,) = json.loads(make_table([record(row)], "json"))
        assert line["metric"] == metric
    (line,) = json.loads(make_table([record(OWN, mcc_spearman=94.0)], "json", {"mine": replace(OWN, id="mine")}))
    assert (line["row"], line["metric"]) == ("mine", "r2")  # as the row says


def test_baselines_are_those_of_the_same_latents_and_code_space() -> None:
    labelled = record("t2-01", kind="supervised", mcc=99.9)
    for row, found in (("t2-04", True), ("t2-06", False), ("t1-01", False)):
        lines = json.loads(make_table([record(row), labelled], "json", {row: ROWS[row]}))
        assert (lines[0]["supervised"] is not None) == found


def test_lengths_are_not_mixed() -> None:
    assert len(json.loads(make_table([record(), record(steps=99)], "json"))) == 2


def test_every_format_shows_the_scores() -> None:
    for style in ("text", "markdown", "latex"):
        table = make_table([record(mcc=97.25)], style)
        assert "97.25" in table
        assert "98.62" in table
    assert make_table([record()], "markdown").splitlines()[1].startswith("| --- |")
    assert r"98.62 $\pm$ 0.05" in make_table([record()], "latex")


def test_tables_need_records_and_a_known_format() -> None:
    with pytest.raises(InputError, match="no finished records"):
        make_table([])
    with pytest.raises(InputError, match="unknown format 'html'"):
        make_table([record()], "html")


def test_factors_are_drawn(tmp_path: Path) -> None:
    latents = np.random.default_rng(0).uniform(size=(500, 3))
    path = tmp_path / "new" / "factors.png"
    plot_factors(latents, latents[:, ::-1], path, "title")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [child.name for child in path.parent.iterdir()] == ["factors.png"]


def test_rows_of_many_scores_have_a_table_of_their_own() -> None:
    part = replace(ROWS["w2-05"], source=DSprites("LAP", "downsampled"))
    scores = {"beta_vae": 99.0, "factor_vae": 91.0}
    records = [record(mcc=98.0), record(part, **scores), record(part, seed=1, **scores | {"beta_vae": 97.0})]
    first, second = make_table(records, "markdown").split("\n\n")
    assert first.count("\n") == second.count("\n") == 2
    header, _, line = second.splitlines()
    cells = dict(zip(header.split(" | "), line.split(" | "), strict=True))
    assert cells["| row"] == "| w2-05"
    assert cells["process"] == "dSprites (every 4th orientation, 2nd x and y), LAP pairs"
    assert cells["BetaVAE, paper / ours"] == "100.00 ± 0.00 / 98.00 ± 1.41"
    assert cells["FactorVAE, paper / ours"] == "98.32 ± 2.50 / 91.00 ± 0.00"
    assert cells["MIG, paper / ours"] == "27.80 ± 7.90 / –", "records were made without it"
    assert cells["seeds"] == "2"
    for style in ("text", "latex"):
        assert "w2-05" in make_table(records, style)
    several = json.loads(make_table(records, "json"))[1]
    assert several["scores"]["beta_vae"]["mean"] == 98.0
    assert several["paper"]["beta_vae"]["mean"] == 100.0
