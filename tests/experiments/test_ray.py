"""A real Ray cluster on this machine."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from small import small_run

from identica import ContrastiveICA, _streaming
from identica._checks import InputError
from identica.experiments import LocalEngine, RayEngine, RunStore, make_engine
from identica.experiments.engines import Progress
from identica.rendering import RenderedSet, write_set
from identica.validation import refit

TOKEN = secrets.token_hex(32)  # Ray reads it once in a process


def test_engines_by_name() -> None:
    assert make_engine("local", 2, "cpu") == LocalEngine(2, "cpu")
    assert make_engine("ray", 2, "cpu", "auto") == RayEngine(2, "cpu", "auto")
    with pytest.raises(InputError, match="unknown engine 'rays': did you mean 'ray'"):
        make_engine("rays", 2, "cpu")
    with pytest.raises(InputError, match="--address is for --engine ray, got 'auto' with --engine local"):
        make_engine("local", 2, "cpu", "auto")


def test_finished_runs_need_no_cluster(runs: Path) -> None:
    run = small_run()
    (first,) = LocalEngine(1, "cpu").compute([run], RunStore(runs))
    (again,) = RayEngine(1, "cpu", "127.0.0.1:1").compute([run], RunStore(runs))
    assert again.record == first.record


def workers(task: bytes = b"compute_run") -> list[int]:
    """Processes that do a task for Ray."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:  # it has ended since
            continue
        if words.startswith(b"ray::" + task):
            found.append(int(path.parent.name))
    return found


def keep_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a token, the clusters of these tests take tasks from them alone, and leave none behind."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
    for name, value in {"IDENTICA_COMPILE": "0", "OMP_NUM_THREADS": "1", **token}.items():
        monkeypatch.setenv(name, value)
    _streaming._can_compile.cache_clear()  # here as in the workers


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_lost_worker_is_replaced_and_records_are_those_of_the_local_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_apart(monkeypatch)
    plan = [small_run(seed, steps=600) for seed in range(4)]
    killed: list[int] = []

    def kill() -> None:
        """End the first worker that has begun to train."""
        while not (list((tmp_path / "ray").glob("*/.lock")) and workers()):
            time.sleep(0.05)
        killed.append(workers()[0])
        os.kill(killed[0], signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    news: list[Progress] = []
    outcomes = list(RayEngine(2, "cpu").compute(plan, RunStore(tmp_path / "ray"), news.append))
    assert len(killed) == 1
    assert [outcome.error for outcome in outcomes] == [None] * 4
    assert {outcome.run.name for outcome in outcomes} == {one.name for one in news} == {run.name for run in plan}
    for outcome in LocalEngine(1, "cpu").compute(plan, RunStore(tmp_path / "local")):
        name = outcome.run.name
        records = [(tmp_path / store / name / "record.json").read_bytes() for store in ("ray", "local")]
        assert records[0] == records[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_refits_and_pictures_are_those_of_this_machine_though_a_worker_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("embreex")
    keep_apart(monkeypatch)
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 3))
    pairs = {"X_pos": x + 0.1 * random.normal(size=x.shape)}
    model, pictures = ContrastiveICA(2, max_steps=20), RenderedSet(200, 16)
    killed: list[int] = []

    def kill() -> None:
        """End the first worker that has begun to draw."""
        while not (list((tmp_path / "ray").glob("images/0*.png")) and workers(b"_done")):
            time.sleep(0.02)
        killed.append(workers(b"_done")[0])
        os.kill(killed[0], signal.SIGKILL)

    with RayEngine(2, "cpu").serving():
        far = refit(model, x, seeds=3, **pairs)
        with pytest.raises(InputError, match="X_pos must have"):
            refit(model, x, seeds=2, X_pos=x[:5])
        threading.Thread(target=kill, daemon=True).start()
        assert write_set(pictures, tmp_path / "ray") == 200
    assert len(killed) == 1
    for one, other in zip(far, refit(model, x, seeds=3, n_jobs=1, **pairs), strict=True):
        np.testing.assert_array_equal(one.transform(x), other.transform(x))
    write_set(pictures, tmp_path / "local")
    names = sorted(path.name for path in (tmp_path / "local" / "images").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "ray" / "images").iterdir())
    for name in names:
        assert (tmp_path / "ray" / "images" / name).read_bytes() == (tmp_path / "local" / "images" / name).read_bytes()
