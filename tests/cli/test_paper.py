from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from identica.experiments import rows_of_record


@pytest.fixture
def identica(eager_environment: dict[str, str], tmp_path: Path):  # type: ignore[no-untyped-def]
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "identica.cli", *arguments]
        return subprocess.run(
            command, env=eager_environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )

    return call


def test_rows_are_listed(identica) -> None:  # type: ignore[no-untyped-def]
    listed = identica("rows")
    assert listed.returncode == 0
    assert len(listed.stdout.splitlines()) == 87
    assert "t2-01  box, uniform, laplace(scale=0.05)" in listed.stdout
    assert json.loads(identica("rows", "--json").stdout.splitlines()[0])["row"] == "t1-01"


def test_reproduce_prints_json_alone_and_table_reads_it_back(identica, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = identica("reproduce", "t2-01", "--seeds", "1", "--steps", "2", "--json", "--out", "store")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    record = json.loads(line)
    assert {"seed", "protocol", "scores", "identity", "seconds", "steps"} <= record.keys()
    assert set(record["scores"]) == set(record["identity"]) == {"r2", "mcc"}
    assert ([row.id for row in rows_of_record(record)], record["steps"]) == (["t2-01"], 2)
    again = identica("reproduce", "t2-01", "--seed", "0", "--steps", "2", "--json", "--out", "store")
    assert json.loads(again.stdout) == record
    table = identica("table", "store", "--format", "markdown")
    assert "98.62 ± 0.05" in table.stdout
    assert f"{record['scores']['mcc']['value']:.2f}" in table.stdout
    assert "1 records in published" in identica("export", "store", "published").stdout
    assert identica("table", "published", "--format", "markdown").stdout == table.stdout
    assert sorted(path.name for path in tmp_path.glob("published/*/*")) == ["cost.json", "record.json"]


def test_the_paper_protocol_runs_any_row(identica) -> None:  # type: ignore[no-untyped-def]
    done = identica("reproduce", "t1-02", "--protocol", "paper", "--steps", "1", "--json")
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]["recipe"]
    assert settings["training"]["batch_size"] == 6144
    assert settings["encoder"]["widths"] == [100, 500, 500, 500, 500, 100]


def test_demo_prints_three_scores_and_draws_a_picture(identica, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = identica("demo", "--steps", "3", "--out", "shown")
    assert done.returncode == 0, done.stderr
    for word in ("identity", "supervised", "unsupervised", "chance"):
        assert word in done.stdout
    assert (tmp_path / "shown" / "factors.png").exists()
    assert "How to cite" in (tmp_path / "shown" / "report.html").read_text(encoding="utf-8")


def test_own_experiments_run(identica) -> None:  # type: ignore[no-untyped-def]
    done = identica(
        "run", "--dim", "3", "--observed", "6", "--conditional", "gennorm(beta=4, scale=0.1)",
        "--model-conditional", "gennorm(beta=4)", "--steps", "2", "--json",
        "--mixing", "layers(layers=2, activation=wave, bias=0.3)", "--shuffle-pairs", "--hidden", "16,8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    source = record["settings"]["source"]
    assert source["observed"] == 6
    assert source["mixing"] == {"type": "Layers", "layers": 2, "activation": "wave", "bias": 0.3}
    assert source["shuffled"] is True
    assert record["settings"]["recipe"]["encoder"]["widths"] == [16, 8]
    assert record["protocol"] == "fast-16x8"


def test_arrays_are_scored(identica, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    latents = np.random.default_rng(0).normal(size=(100, 3))
    np.save(tmp_path / "z.npy", latents)
    np.save(tmp_path / "h.npy", 2 * latents[:, ::-1])
    scores = json.loads(identica("score", "z.npy", "h.npy", "--json").stdout)
    assert scores["mcc"] == pytest.approx(100)
    assert scores["r2"] == pytest.approx(100)
    assert scores["mcc_chance"] < 50


OWN = ("run", "--model-conditional", "laplace")

BAD = [
    (("reproduce", "t2-1"), "unknown row 't2-1': did you mean 't2-"),
    (("reproduce",), "name at least one row or --table"),
    (("reproduce", "--table", "9"), "unknown table '9'"),
    (("reproduce", "t2-01", "--seeds", "0"), "--seeds must be a whole number of at least 1, got 0"),
    (("reproduce", "t2-01", "--seeds", "2", "--seed", "1"), "not both"),
    (("reproduce", "t2-01", "--seed", "-1"), "--seed must be a whole number from 0 to 2^63 - 1, got -1"),
    (("reproduce", "t2-01", "--steps", "-5"), "steps must be a whole number of at least 1, got -5"),
    (("reproduce", "t2-01", "--steps", "many"), "valid integer"),
    (("reproduce", "t2-01", "--protocol", "slow"), "unknown protocol 'slow'"),
    (("reproduce", "t2-01", "--device", "tpu"), "device 'tpu' is not available here"),
    (("reproduce", "t2-01", "--jobs", "0"), "--jobs must be a whole number of at least 1, got 0"),
    (("reproduce", "t2-01", "--out", "file"), "--out must be a folder, but 'file' is a file"),
    ((*OWN, "--conditional", "laplace(scale=-1)"), "scale must be a finite number above 0, got -1"),
    ((*OWN, "--conditional", "vmf(kappa=1)"), "vmf(kappa=1) lives on a sphere, got the box [0, 1]^10"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--space", "torus"), "unknown space 'torus'"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--observed", "4"), "observed must be at least the 10 latents, got 4"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--mixing", "mlp()"), "cannot read the mixing 'mlp()'"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--mixing", "layers(layers=0)"), "layers must be a whole number"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--hidden", "wide"), "--hidden must be whole numbers such as 128,128"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--widths", "wide"), "unknown widths 'wide': allowed: free, equal"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--metric", "mcc"), "No such option: --metric"),
    ((*OWN, "--conditional", "laplace(scale=1)", "--dim", "0"), "dim must be a whole number of at least 1, got 0"),
    (("table", "nowhere"), "DIR must be the folder of a run store, got 'nowhere'"),
    (("table", "empty"), "no finished records"),
    (("export", "nowhere", "copies"), "DIR must be the folder of a run store, got 'nowhere'"),
    (("score", "nan.npy", "good.npy"), "latents in 'nan.npy' has 1 missing or infinite values"),
    (("score", "good.npy", "short.npy"), "same number of samples, got 20 and 5"),
    (("score", "good.npy", "gone.npy"), "'gone.npy' does not exist"),
    (("score", "good.npy", "file"), "got 'file' with no suffix"),
    (("dance",), "No such command 'dance'"),
    (("reproduce", "t2-01", "--color", "red"), "No such option: --color"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_bad_input_gets_one_clear_line_and_code_2(
    command_line: Callable[..., tuple[int, str, str]], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "file").write_text("not an array")
    (tmp_path / "empty").mkdir()
    good = np.arange(20.0)
    np.save(tmp_path / "good.npy", good)
    np.save(tmp_path / "short.npy", good[:5])
    np.save(tmp_path / "nan.npy", np.where(good == 3, np.nan, good))
    code, out, err = command_line(*arguments)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert message in line


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Shells start background jobs deaf to Ctrl-C, and so would be all their children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
def test_ctrl_c_ends_with_one_line_and_a_run_that_goes_on(eager_environment: dict[str, str], tmp_path: Path) -> None:
    words = ["reproduce", "t2-01", "--steps", "100000", "--json", "--out", "store"]
    # Python ends by the signal, not by the code it is given, if Ctrl-C meets an import that runs code from a string.
    script = "import lightning_fabric, torch._dynamo; from identica.cli import main; main()"
    command = [sys.executable, "-c", script, *words]
    child = subprocess.Popen(command, env=eager_environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("store/*")) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    try:
        _, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130
    assert "interrupted; the same command goes on from the last checkpoint" in errors
    assert "Traceback" not in errors
    assert not list(tmp_path.glob("store/*/record.json"))


def test_import_is_light() -> None:
    heavy = "('sklearn', 'matplotlib', 'lightning_fabric', 'rich', 'scipy')"
    script = f"import sys, identica.training; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
