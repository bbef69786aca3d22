"""The built wheel, away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*words: str, folder: Path, path: Path | None = None) -> str:
    environment = os.environ | {"IDENTICA_COMPILE": "0"} | ({} if path is None else {"PYTHONPATH": str(path)})
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    run("-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path), folder=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert {"identica/py.typed", "identica/report/page.css", "identica/report/page.js"} <= set(files)
    away = tmp_path / "away"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", str(away), str(wheel), folder=tmp_path)
    where = run("-c", "import identica; print(identica.__file__)", folder=tmp_path, path=away)
    assert Path(where.strip()).is_relative_to(away)
    assert "fit" in run("-m", "identica", "--help", folder=tmp_path, path=away)
    run("-m", "identica", "demo", "--steps", "50", folder=tmp_path, path=away)
    assert (tmp_path / "demo" / "report.html").exists()


def test_importing_the_library_brings_nothing_heavy_along() -> None:
    heavy = "('torch', 'sklearn', 'scipy', 'pandas', 'matplotlib', 'plotly')"
    script = f"import sys, identica; print([name for name in {heavy} if name in sys.modules])"
    assert run("-c", script, folder=ROOT).strip() == "[]"
