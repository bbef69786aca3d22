"""A real Ray cluster on this machine."""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from pathlib import Path

import pytest
from small import small_run

from identica._checks import InputError
from identica.experiments import LocalEngine, RayEngine, RunStore, make_engine
from identica.experiments.engines import Progress


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


def workers() -> list[int]:
    """Processes that compute a run for Ray."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:  # it has ended since
            continue
        if words.startswith(b"ray::compute_run"):
            found.append(int(path.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_lost_worker_is_replaced_and_records_are_those_of_the_local_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A token of its own, so that the cluster of the test takes tasks from the test alone and leaves none behind.
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in {"IDENTICA_COMPILE": "0", "OMP_NUM_THREADS": "1", **token}.items():
        monkeypatch.setenv(name, value)
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
