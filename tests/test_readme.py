from __future__ import annotations

import re
from pathlib import Path

from identica.metrics import Score

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_recovers_the_factors() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    score = names["score"]
    assert isinstance(score, Score)
    assert score.value > 0.9 > score.chance


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 150
