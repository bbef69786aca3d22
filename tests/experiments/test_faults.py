"""What can go wrong around a run, and what must come of it: a clear error or a clean recovery, never a wrong table."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from small import small_run

from identica._checks import InputError
from identica._files import InUseError, StorageError, locked, replacing
from identica._tensors import load_tensors, save_tensors
from identica.datafiles import read_dataset
from identica.experiments import LocalEngine, RunStore, execute
from identica.report import make_table

FOLDER = str(Path(__file__).parent)
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from small import small_run
from identica._signals import termination_told
from identica.experiments import RunStore, execute
with termination_told():
    execute(small_run(steps=100_000), RunStore(Path(sys.argv[1])), device="cpu", report=lambda step, *_: print(step))
"""


@pytest.fixture(autouse=True)
def usual_ctrl_c() -> Iterator[None]:
    """Tests that run in the background of a shell would not hear Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_run(folder: Path) -> Path:
    """A run that was stopped at its fifth step, with a checkpoint."""

    def stop(step: int, *_: object) -> None:
        if step == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        execute(small_run(), RunStore(folder), device="cpu", report=stop)
    return folder / small_run().name / "checkpoint.safetensors"


def test_ctrl_c_saves_the_step_under_way_and_the_run_goes_on_from_it(tmp_path: Path) -> None:
    usual = signal.getsignal(signal.SIGINT)
    assert interrupted_run(tmp_path / "cut").exists()
    assert signal.getsignal(signal.SIGINT) is usual
    steps: list[int] = []
    execute(small_run(), RunStore(tmp_path / "cut"), device="cpu", report=lambda step, *_: steps.append(step))
    assert steps[0] == 7  # the step after the report was under way when the signal was heard
    execute(small_run(), RunStore(tmp_path / "whole"), device="cpu")
    records = [(tmp_path / name / small_run().name / "record.json").read_bytes() for name in ("cut", "whole")]
    assert records[0] == records[1]


def test_sigterm_saves_and_ends_the_process(tmp_path: Path, eager_environment: dict[str, str]) -> None:
    arguments = [sys.executable, "-u", "-c", SCRIPT, str(tmp_path), FOLDER]
    child = subprocess.Popen(arguments, env=eager_environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    child.terminate()
    child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGTERM
    run = small_run(steps=100_000)
    assert [path.name for path in (tmp_path / run.name).iterdir() if path.name != ".lock"] == ["checkpoint.safetensors"]


@pytest.mark.parametrize("damage", ["cut short", "altered", "older"])
def test_a_damaged_checkpoint_is_told_and_the_run_starts_again(tmp_path: Path, damage: str) -> None:
    path = interrupted_run(tmp_path)
    content = bytearray(path.read_bytes())
    if damage == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "altered":
        content[-1] ^= 1
        path.write_bytes(content)
    else:
        tensors, words = load_tensors(path)
        versions = json.loads(words["versions"]) | {"torch": "1.0"}
        save_tensors(path, tensors, words | {"versions": json.dumps(versions)})
    steps: list[int] = []
    with pytest.warns(UserWarning, match=r"training starts again at the first step: .*checkpoint\.safetensors"):
        execute(small_run(), RunStore(tmp_path), device="cpu", report=lambda step, *_: steps.append(step))
    assert steps[0] == 1


def test_a_record_that_was_altered_is_never_shown(runs: Path) -> None:
    store, run = RunStore(runs), small_run()
    execute(run, store, device="cpu")
    path = runs / run.name / "record.json"
    record = json.loads(path.read_text())
    record["scores"]["mcc"]["value"] = 99.9
    path.write_text(json.dumps(record))
    for use in (lambda: make_table(store.records()), lambda: execute(run, store, device="cpu")):
        with pytest.raises(InputError, match=r"record\.json was altered .*remove .* to train it anew"):
            use()


def test_more_scores_keep_a_record_whole_however_they_are_cut_off(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, run = RunStore(runs), small_run()
    execute(run, store, device="cpu")
    replace, left = os.replace, [0]

    def cut(source: object, target: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        replace(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", cut)
    for writes in range(3):
        left[0] = writes
        with pytest.raises(KeyboardInterrupt):
            store.add_scores(run.name, {"scores": {f"new {writes}": {"value": 1.0}}})
        assert store.load(run.name) is not None
    left[0] = 3
    store.add_scores(run.name, {"scores": {"last": {"value": 2.0}}})
    record = store.load(run.name)
    assert record is not None
    assert record["scores"]["last"] == {"value": 2.0}


def test_a_second_process_on_a_run_is_told(runs: Path) -> None:
    run, store = small_run(), RunStore(runs)
    with store.writing(run.name), pytest.raises(InUseError, match=r"another process is writing .*wait"):
        execute(run, store, device="cpu")
    with store.writing(run.name):
        (outcome,) = LocalEngine(1, "cpu").compute([run], store)
    assert "another process is writing" in (outcome.error or "")
    assert execute(run, store, device="cpu")["steps"] == 20
    assert not (runs / run.name / ".lock").exists()


def test_a_lock_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    (tmp_path / ".123.checkpoint.safetensors").write_text("half")
    (tmp_path / "record.json").write_text("whole")
    with locked(tmp_path):
        assert not (tmp_path / ".123.checkpoint.safetensors").exists()
    assert (tmp_path / "record.json").read_text() == "whole"


def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with pytest.raises(StorageError, match=r"file' cannot be written: File too large"), replacing(path) as new:
            new.write_bytes(bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no file system that takes no writes")
def test_a_store_that_takes_no_writes_is_told(command_line: Callable[..., tuple[int, str, str]]) -> None:
    code, _, said = command_line("reproduce", "t2-01", "--steps", "2", "--out", "/sys/kernel/runs")
    assert code == 2
    assert "'/sys/kernel/runs" in said
    assert "--out" in said
    assert "Traceback" not in said


def test_an_array_that_claims_more_than_there_are_numbers_for_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 70, 1)})
    (tmp_path / "x.npy").write_bytes(header.getvalue())
    with pytest.raises(InputError, match=r"x\.npy' cannot be read as \.npy"):
        read_dataset(tmp_path / "x.npy")


def test_a_thousand_runs_are_a_table_in_ten_seconds(runs: Path) -> None:
    store, run = RunStore(runs), small_run()
    execute(run, store, device="cpu")
    files = {name: (runs / run.name / name).read_bytes() for name in ("record.json", "cost.json")}
    for number in range(999):
        folder = runs / f"copy-{number}"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    started = time.process_time()
    table = make_table(store.records())
    assert time.process_time() - started < 10
    assert table
