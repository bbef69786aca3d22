"""The path of a newcomer, as the page has it: five commands, and what they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from identica.cli import app
from identica.metrics import mcc

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "first-hour.md").read_text(encoding="utf-8")
FIVE = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()
COMMANDS = [block.strip() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)]
OUTPUTS = re.findall(r"```sh\n.*?```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def record(folder: Path, *words: str) -> None:
    script = ROOT / "examples" / "make_recording.py"
    subprocess.run([sys.executable, script, "--out", str(folder), *words], check=True)


def run(command: str, *more: str) -> str:
    done = CliRunner().invoke(app, [*shlex.split(command)[1:], *more], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def masked(text: str) -> list[str]:
    """Lines without numbers, and without settings and widths, which depend on the machine."""
    lines = [re.sub(r"\s*-?\d+(\.\d+)?", " #", line) for line in text.strip().splitlines()]
    return [re.sub(r"^(settings: encoder|partners differ by) .*", r"\1", line) for line in lines]


def test_there_are_five_commands_and_no_column_is_named() -> None:
    assert len(FIVE) == 5
    assert [line.removeprefix(".venv/bin/") for line in FIVE[2:]] == COMMANDS
    assert FIVE[:2] == ["make install", ".venv/bin/python examples/make_recording.py"]
    assert not re.search(r"--(columns|exclude|time|trial)\b", "\n".join(FIVE))


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path, "--trials", "12", "--rows", "60")
    assert list(pd.read_csv("recording.csv").columns)[:3] == ["time", "trial", "channel1"]
    printed = run(COMMANDS[0], "--steps", "2", "--batch-size", "64")
    assert printed.splitlines()[1] == OUTPUTS[0].splitlines()[1]
    assert "identica" in Path("page.html").read_text(encoding="utf-8")
    for command, output in zip(COMMANDS[1:], OUTPUTS[1:], strict=True):
        assert masked(run(command)) == masked(output)


@pytest.mark.slow
def test_the_signals_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(tmp_path)
    for command, output in zip(COMMANDS, OUTPUTS, strict=True):
        assert masked(run(command)) == masked(output)
    truth, codes = (pd.read_csv(name).to_numpy() for name in ("signals.csv", "codes.csv"))
    assert mcc(truth, codes).value >= 0.98
    top = Path("page.html").read_text(encoding="utf-8").partition("<nav")[0]
    assert "<b>Supported.</b>" in top
