from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from identica._checks import InputError
from identica.theory import train_with_parts_of_loss


@pytest.mark.slow
def test_without_uniformity_h_collapses_and_without_alignment_it_stays_a_bijection() -> None:
    both, uniformity, alignment, from_the_start = (kept.summary() for kept in train_with_parts_of_loss())
    for kept in (both, uniformity):
        assert kept["turned over"] == 0
        assert kept["ratio at 1 %"] > 0.1
        assert kept["R²"] > 99
    assert alignment["median"] < 0.01
    assert alignment["R²"] < 50
    assert from_the_start["turned over"] > 1  # a network with kinks: no theorem


def test_it_is_a_command(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    words = ("theory", "uniformity", "--steps", "3", "--picture", "halves.svg", "--json")
    code, out, err = command_line(*words)
    assert code == 0, err
    lines = json.loads(out)["runs"]
    assert [line["loss"] for line in lines] == [
        "both halves",
        "both, then uniformity alone",
        "both, then alignment alone",
        "uniformity alone from the start",
    ]
    assert (tmp_path / "halves.svg").exists()
    code, _, err = command_line("theory", "uniformity", "--picture", "halves.txt")
    assert code == 2
    assert "--picture must end in one of .png, .pdf, .svg, got 'halves.txt'" in err


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="steps must be"):
        train_with_parts_of_loss(steps=0)
