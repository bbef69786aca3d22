from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from identica.cli import app
from identica.datafiles import read_array, read_dataset

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ["quickstart.md", "tutorials/pairs.md", "tutorials/time-series.md", "tutorials/assumptions.md", "metrics.md"]
DRAWN = ["gallery/vectors.md", "gallery/own-csv.md", "plots.md", "pages.md", "differences.md"]
DRAWN_FROM_DATA = [f"gallery/{name}.md" for name in ("beacon", "masks", "mocap", "monkey", "sprites", "teapots")]


class Block(NamedTuple):
    language: str
    code: str
    recorded: str  # the output as the page shows it


def blocks_of(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    after = [*found[1:], ("", "")]
    return [
        Block(language, code, follower if kind == "text" else "")
        for (language, code), (kind, follower) in zip(found, after, strict=True)
        if language in {"python", "sh"}
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in {"OMP_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1", "IDENTICA_COMPILE": "0"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def skip_without_data(page: str) -> None:
    needed = "IDENTICA_DATA" in (DOCS / page).read_text(encoding="utf-8")
    if needed and not (Path(os.environ.get("IDENTICA_DATA", "")) / "mocap").is_dir():
        pytest.skip("IDENTICA_DATA must name a folder with mocap/")


# The slow test below runs the long page, too.
@pytest.mark.parametrize("page", [page for page in PAGES if page != "tutorials/time-series.md"])
def test_blocks_run_in_order(page: str, folder: Path) -> None:
    skip_without_data(page)
    names: dict[str, object] = {}
    for block in blocks_of(page):
        code = shortened(block.code)
        if block.language == "python":
            run_python(code, names)
            continue
        for line in code.splitlines():
            result = CliRunner().invoke(app, shlex.split(line)[1:], catch_exceptions=False)
            assert result.exit_code == 0, f"{line}: {result.output}"


@pytest.mark.filterwarnings("ignore::UserWarning")  # fits this short find nothing, and say so
@pytest.mark.parametrize("page", [*DRAWN, *(pytest.param(page, marks=pytest.mark.slow) for page in DRAWN_FROM_DATA)])
def test_pages_with_pictures_run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    plt.switch_backend("agg")
    text = (DOCS / page).read_text(encoding="utf-8")
    data = Path(os.environ.get("IDENTICA_DATA", ""))
    for needed in re.findall(r"IDENTICA_DATA\"\]\) / \"([\w/.]+)\"", text):
        if not (data / needed).exists():
            pytest.skip(f"IDENTICA_DATA must name a folder with {needed}")
    try:
        test_blocks_run_in_order(page, folder)
    finally:
        plt.close("all")
    drawn = {path.name for path in folder.glob("*.png")}
    assert drawn == set(re.findall(r"savefig\(\"([\w-]+\.png)", text))
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+\.png)\)", text)
    assert all((DOCS / page).parent.joinpath(name).is_file() for name in shown)


def test_pictures_of_the_docs_are_small() -> None:
    pictures = [*(DOCS / "gallery").glob("*.png"), *(DOCS / "pages").glob("*.png")]
    assert len(pictures) > 15
    assert [picture.name for picture in pictures if picture.stat().st_size > 300_000] == []
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    assert [picture.name for picture in pictures if picture.name not in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_output_looks_as_recorded(page: str, folder: Path) -> None:
    skip_without_data(page)
    names: dict[str, object] = {}
    for block in blocks_of(page):
        output = run_python(block.code, names) if block.language == "python" else run_shell(block.code)
        assert masked(output) == masked(block.recorded)


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    for page, text in pages.items():
        fetched = re.findall(
            r"<(?:script|img)[^>]* src=\"(?:https?:)?//[^\"]*|<link[^>]* href=\"(?:https?:)?//[^\"]*", text
        )
        assert not fetched, f"{page} loads from elsewhere"
    assert 'id="identica.estimator.ContrastiveICA.fit"' in pages[site / "api" / "estimator.html"]
    assert 'id="identica.sources.SyntheticPairs"' in pages[site / "api" / "sources.html"]


def test_the_example_of_pairs_can_be_read(folder: Path) -> None:
    subprocess.run([sys.executable, ROOT / "examples" / "make_pairs.py", "--pairs", "300"], check=True)
    data = read_dataset(folder / "pairs.npz")
    assert data.positives is not None
    assert data.observations.shape == data.positives.shape == (300, 5)
    assert read_array("latents", folder / "latents.npy").shape == (300, 5)


def test_the_theory_quotes_the_records() -> None:
    results = dict(rows_of((DOCS / "results.md").read_text(encoding="utf-8")))
    section = (DOCS / "theory.md").read_text(encoding="utf-8").split("## What was measured")[1].split("\n## ")[0]
    quoted = dict(rows_of(section))
    assert quoted.keys() == results.keys()
    for row, cells in quoted.items():
        process, model, _, paper, r2, mcc = cells
        metric = paper.split()[0]
        scores = [paper.removeprefix(f"{metric} "), r2, f"MCC {mcc}"]
        if metric == "MCC":
            scores[1:] = [mcc, f"R² {r2}"]
        assert results[row][:3] == [process, model, metric]
        assert results[row][5:8] == scores


def test_the_page_of_metrics_quotes_its_tables() -> None:
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    tables = (DOCS / "metrics" / "table.md").read_text(encoding="utf-8").strip().split("\n\n")
    assert len(tables) == 2
    assert all(table in page for table in tables)


def test_the_files_to_touch_are_there() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Where things go")[1].split("\n## ")[0]
    named = set(re.findall(r"`(\w[\w/]*\.py)`", section))
    assert len(named) > 10
    missing = [name for name in named if "NAME" not in name and not (ROOT / "src" / "identica" / name).is_file()]
    assert missing == []


def rows_of(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in re.findall(r"^\| (t\d-\d\d \|.*) \|$", text, re.MULTILINE):
        row, *cells = line.split(" | ")
        yield row, cells


def shortened(code: str) -> str:
    """Two steps, and a twentieth of the samples."""
    fewer = re.sub(r"\b(\d+)_000\b", lambda found: str(50 * int(found[1])), code)
    return re.sub(r"(max.steps[= ])\d+", r"\g<1>2", fewer)


def run_python(code: str, names: dict[str, object]) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        exec(code, names)
    return output.getvalue()


def run_shell(code: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", code], env=os.environ | {"PATH": path}, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def masked(output: str) -> str:
    """The first line without its numbers, which depend on the machine."""
    first = output.strip().partition("\n")[0]
    return re.sub(r"\s*-?\d+(\.\d+)?", " #", first)
