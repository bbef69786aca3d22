from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from identica.experiments import plan_figure2
from identica.report import draw_figure2, summarise_figure2

CommandLine = Callable[..., tuple[int, str, str]]


def test_the_figure_is_a_command_with_three_files(command_line: CommandLine, tmp_path: Path) -> None:
    words = ("figure", "2", "--points", "2", "--steps", "1", "--jobs", "1", "--out", "out")
    code, out, err = command_line(*words)
    assert code == 0, err
    folder = tmp_path / "out"
    assert (folder / "figure2.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "figure2.png").read_bytes().startswith(b"\x89PNG")
    summary = json.loads((folder / "figure2.json").read_text(encoding="utf-8"))
    assert [panel["panel"] for panel in summary["panels"]] == ["sphere", "box"]
    for panel in summary["panels"]:
        first, last = panel["points"]
        assert first["concentration"] < panel["dashed_line"] < last["concentration"]
        assert 0 < first["mass_to_move"] < 5
        assert last["mass_to_move"] > 99
        assert f"{first['r2']:.2f}" in out

    stamps = {path: path.stat().st_mtime_ns for path in folder.glob("*/record.json")}
    assert len(stamps) == 4
    code, again, err = command_line(*words, "--json")
    assert code == 0, err
    assert json.loads(again) == summary
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*/record.json")} == stamps


def test_scores_go_to_their_point_and_direction(tmp_path: Path) -> None:
    plan = plan_figure2(3, [0, 1], directions=("forwards", "backwards"))
    records = {
        point.run.name: {
            "protocol": "fast",
            "seed": point.run.seed,
            "seconds": 10.0,
            "machine": {},
            "versions": {},
            "scores": {"r2": {"value": index + 0.5}},
            "identity": {"r2": 60.0},
        }
        for index, point in enumerate(plan)
    }
    summary = summarise_figure2(plan, records)
    assert summary["seeds"] == [0, 1]
    assert summary["seconds"] == 240
    first, last = summary["panels"][0]["points"][0], summary["panels"][1]["points"][-1]
    assert (first["r2"], first["r2_per_seed"], first["r2_backwards_per_seed"]) == (1.0, [0.5, 1.5], [12.5, 13.5])
    assert (last["r2"], last["r2_backwards"]) == (11.0, 23.0)
    draw_figure2(summary, tmp_path / "both.svg")
    assert "R² backwards" in (tmp_path / "both.svg").read_text(encoding="utf-8")


def test_wrong_words_are_named(command_line: CommandLine, tmp_path: Path) -> None:
    for words, expected in (
        (("figure", "9"), "NAME"),
        (("figure", "2", "--points", "1"), "points must be at least 2, got 1"),
        (("figure", "2", "--seeds", "0"), "--seeds"),
        (("figure", "2", "--protocol", "slow"), "protocol"),
    ):
        code, _, err = command_line(*words)
        assert code == 2
        assert expected in err
    assert list(tmp_path.iterdir()) == []
