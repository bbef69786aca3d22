from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from identica._checks import InputError
from identica.cli import app
from identica.experiments import ROWS, Row
from identica.report import describe_curves, draw_curves, summarise_curves


def record_of(row: Row, seed: int, *scores: float) -> dict[str, Any]:
    """As a run of this row would leave it, with a score at every hundredth step."""
    run = row.run(seed)
    curve = [{"step": 100 * place, "loss": 1.0, row.score: score} for place, score in enumerate(scores, start=1)]
    return {
        "kind": "unsupervised",
        "protocol": "fast",
        "source": str(run.source),
        "learner": str(run.learner),
        "scores": {name: {} for name in row.scores},
        "seed": seed,
        "settings": run.settings,
        "curve": curve,
    }


RECORDS = [
    record_of(ROWS["t3-02"], 0, 70.0, 78.0),
    record_of(ROWS["t3-02"], 1, 74.0, 80.0),
    record_of(ROWS["t3-04"], 0, 72.0, 60.0),
    record_of(ROWS["t3-07"], 0, 75.0, 79.0, 81.0),
]


def test_seeds_of_one_learner_make_one_line_and_sources_have_panels_of_their_own() -> None:
    first, second = summarise_curves(RECORDS)["panels"]
    assert [line["row"] for line in first["lines"]] == ["t3-02", "t3-04"]
    laplace = first["lines"][0]
    assert (laplace["steps"], laplace["mean"]) == ([100, 200], [72.0, 79.0])
    assert (laplace["low"], laplace["high"], laplace["seeds"]) == ([70.0, 78.0], [74.0, 80.0], [0, 1])
    assert [line["row"] for line in second["lines"]] == ["t3-07"]


def test_only_rows_that_were_asked_for_are_drawn() -> None:
    (panel,) = summarise_curves(RECORDS, ["t3-04"])["panels"]
    assert [line["model"] for line in panel["lines"]] == ["unbounded, normal"]


def test_a_line_has_the_steps_that_all_of_its_seeds_have() -> None:
    shorter = record_of(ROWS["t3-02"], 2, 50.0)
    (line,) = summarise_curves([RECORDS[0], shorter])["panels"][0]["lines"]
    assert line["steps"] == [100]


def test_where_the_first_score_of_a_row_was_not_followed_the_next_one_is_drawn() -> None:
    record = copy.deepcopy(RECORDS[0])
    for point in record["curve"]:
        point["r2"] = point.pop("mcc_spearman")
    assert summarise_curves([record])["panels"][0]["score"] == "r2"


def test_any_number_of_a_curve_can_be_drawn() -> None:
    summary = summarise_curves(RECORDS, score="loss")
    assert {value for panel in summary["panels"] for line in panel["lines"] for value in line["mean"]} == {1.0}
    assert describe_curves(summary).splitlines()[0].endswith("loss, by steps")
    with pytest.raises(InputError, match="records must be of runs with 'held_out_bits' that were scored"):
        summarise_curves(RECORDS, score="held_out_bits")


def test_runs_without_scores_are_refused() -> None:
    record = record_of(ROWS["t3-02"], 0)
    with pytest.raises(InputError, match="records must be of runs that were scored while they trained, got none"):
        summarise_curves([record])
    with pytest.raises(InputError, match="records must be of runs of t1-01 that were scored"):
        summarise_curves(RECORDS, ["t1-01"])


def test_the_picture_and_the_text_show_every_line(tmp_path: Path) -> None:
    summary = summarise_curves(RECORDS)
    text = describe_curves(summary)
    assert "79.0 (200)" in text
    assert text.count("seeds:") == 3
    draw_curves(summary, tmp_path / "curves.png")
    with Image.open(tmp_path / "curves.png") as image:
        assert image.size[0] > 2 * image.size[1]


def test_the_command_draws_from_a_store_and_refuses_rows_that_are_not(tmp_path: Path) -> None:
    published = str(Path(__file__).parents[2] / "results" / "tables")
    asked = ["figure", "curves", "--runs", published, "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, [*asked, "--row", "t1-02,t1-03"])
    assert done.exit_code == 0, done.output
    lines = [line for panel in json.loads(done.stdout)["panels"] for line in panel["lines"]]
    assert {line["row"] for line in lines} == {"t1-02", "t1-03"}
    assert (tmp_path / "curves.pdf").stat().st_size > 1000
    refused = CliRunner().invoke(app, [*asked, "--row", "t1-99"])
    assert refused.exit_code != 0
