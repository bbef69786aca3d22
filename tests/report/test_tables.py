from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identica._checks import InputError
from identica.report import make_table, plot_factors


def record(row: str = "t2-01", seed: int = 0, kind: str = "unsupervised", **scores: float) -> dict[str, Any]:
    settings = {
        "space": "box",
        "marginal": "uniform",
        "conditional": "laplace(scale=0.05)",
        "model_space": "box",
        "model_conditional": "laplace",
        "dim": 10,
        "observed": 10,
    }
    values = {"r2": 90.0, "mcc": 95.0, "identity_r2": 70.0, "identity_mcc": 45.0, "seconds": 100.0} | scores
    return {"row": row, "seed": seed, "kind": kind, "protocol": "fast", "steps": 10, "settings": settings, **values}


def test_seeds_are_averaged_and_set_against_the_paper() -> None:
    records = [record(mcc=98.0), record(seed=1, mcc=99.0, seconds=200.0), record(kind="supervised", mcc=99.9)]
    (line,) = json.loads(make_table(records, "json"))
    assert line["unsupervised"] == {"mean": 98.5, "deviation": pytest.approx(0.7071, abs=1e-3), "seeds": 2}
    assert line["paper_unsupervised"]["mean"] == 98.62
    assert line["supervised"]["mean"] == 99.9
    assert line["identity"]["mean"] == 45.0
    assert line["seconds"] == 150.0


def test_rows_come_in_the_order_of_the_paper_and_r2_rows_show_r2() -> None:
    table = make_table([record("t2-01"), record("t1-05", r2=88.0)], "json")
    first, second = json.loads(table)
    assert (first["row"], first["metric"], first["unsupervised"]["mean"]) == ("t1-05", "r2", 88.0)
    assert second["row"] == "t2-01"


def test_both_scores_are_shown() -> None:
    (line,) = json.loads(make_table([record("t2-08", r2=99.5, mcc=60.0)], "json"))
    assert (line["unsupervised"]["mean"], line["other_metric"], line["other"]["mean"]) == (60.0, "r2", 99.5)
    assert "R² 99.50" in make_table([record("t2-08", r2=99.5, mcc=60.0)])


def test_experiments_of_ones_own_are_told_apart() -> None:
    large = record("own")
    large["settings"] |= {"dim": 20, "observed": 40}
    first, second = json.loads(make_table([record("own"), record("own", seed=1), large], "json"))
    assert sorted([first["unsupervised"]["seeds"], second["unsupervised"]["seeds"]]) == [1, 2]
    assert sum("N = 20, K = 40" in line["process"] for line in (first, second)) == 1


def test_lengths_are_not_mixed() -> None:
    assert len(json.loads(make_table([record(), record() | {"steps": 99}], "json"))) == 2


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
