from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from identica.metrics import Score

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


OWN_DATA, PARTS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def score_of(block: str) -> Score:
    names: dict[str, object] = {}
    exec(block, names)
    assert isinstance(names["score"], Score)
    return names["score"]


def test_the_parts_recover_the_factors() -> None:
    assert score_of(PARTS).value > 0.9 > score_of(PARTS).chance


def test_ten_lines_fit_what_another_program_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(OWN_DATA.splitlines()) <= 11  # ten and an empty one
    save_pairs(tmp_path, 3000)
    monkeypatch.chdir(tmp_path)
    fewer = OWN_DATA.replace("random_state=0", "random_state=0, max_steps=100")
    assert fewer != OWN_DATA
    assert score_of(fewer).value > 0.8


@pytest.mark.slow
def test_ten_lines_recover_five_factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pairs(tmp_path, 50_000)
    monkeypatch.chdir(tmp_path)
    assert score_of(OWN_DATA).value >= 0.97


def save_pairs(folder: Path, count: int) -> None:
    script = ROOT / "examples" / "make_pairs.py"
    subprocess.run([sys.executable, script, "--pairs", str(count)], cwd=folder, check=True, capture_output=True)


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 150
