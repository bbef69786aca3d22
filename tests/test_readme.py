from __future__ import annotations

import re
from pathlib import Path

import pytest

from identica.experiments import RunStore
from identica.metrics import Score, symbol
from identica.report.tables import Line, summarise

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def score_of(code: str) -> Score:
    names: dict[str, object] = {}
    exec(code, names)
    assert isinstance(names["score"], Score)
    return names["score"]


@pytest.mark.usefixtures("compiling")
def test_the_example_runs_as_pasted_with_fewer_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fewer = EXAMPLE.replace("20_000", "4_000").replace("max_steps=1000", "max_steps=300")
    assert len({EXAMPLE, fewer}) == 2
    score = score_of(fewer)
    assert score.value > 0.9 > 0.1 > score.chance


@pytest.mark.slow
def test_the_example_recovers_its_factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert score_of(EXAMPLE).value >= 0.97


def test_the_example_is_short() -> None:
    assert 10 <= len([line for line in EXAMPLE.splitlines() if line]) <= 15


def test_it_fits_a_screen() -> None:
    lines = README.splitlines()
    assert len(lines) < 130
    assert [line for line in lines if len(line) > 120] == []


def test_the_results_are_those_of_the_records() -> None:
    found = {line.row: line for line in summarise(RunStore(ROOT / "results" / "tables").records())}
    header, _, *shown = re.findall(r"^\|.*\|$", README, re.MULTILINE)
    assert len(shown) == 6
    assert header.count("|") <= 8  # seven columns
    assert shown == [as_shown(found[row.split("|")[1].strip()]) for row in shown]


def as_shown(line: Line) -> str:
    assert line.unsupervised is not None
    cells = (
        line.row,
        line.model,
        symbol(line.metric),
        line.paper_unsupervised,
        line.unsupervised,
        f"{line.seconds:.0f}",
        f"`identica reproduce {line.row} --seeds {line.unsupervised.seeds}`",
    )
    return f"| {' | '.join(map(str, cells))} |"


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
