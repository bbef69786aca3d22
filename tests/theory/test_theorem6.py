from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

CommandLine = Callable[..., tuple[int, str, str]]


def test_each_exponent_is_trained_once(command_line: CommandLine, tmp_path: Path) -> None:
    words = ("theory", "theorem6", "--steps", "1", "--jobs", "1", "--json")
    code, out, err = command_line(*words)
    assert code == 0, err
    lines = json.loads(out)["runs"]
    assert [(line["α"], line["row"]) for line in lines] == [(1, "t2-06"), (2, "t2-08"), (3, "t2-07")]
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/record.json")}
    assert len(stamps) == 3
    assert json.loads(command_line(*words)[1])["runs"] == lines
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


@pytest.mark.slow
def test_the_round_exponent_alone_leaves_a_rotation(command_line: CommandLine) -> None:
    code, out, err = command_line("theory", "theorem6", "--json")
    assert code == 0, err
    for line in json.loads(out)["runs"]:
        assert line["R²"] > 98.5
        assert line["orthogonal"] > 98
        if line["α"] == 2:
            assert line["MCC"] < 80
            assert line["permutation"] < 60
        else:
            assert line["MCC"] > 98.5
            assert line["permutation"] > 97
