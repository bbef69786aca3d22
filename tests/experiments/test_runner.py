from __future__ import annotations

import json
import multiprocessing
import multiprocessing.process
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small import ROW, SOURCE, small_run

from identica._checks import InputError
from identica.experiments import LocalEngine, RunStore, execute, rows_of_record
from identica.experiments.engines import Progress
from identica.metrics import mcc


def test_a_record_says_all_that_matters(runs: Path) -> None:
    record = execute(small_run(), RunStore(runs), device="cpu")
    assert (record["seed"], record["protocol"], record["steps"]) == (0, "fast", 20)
    assert rows_of_record(record, {ROW.id: ROW}) == [ROW]
    for name in ("r2", "mcc"):
        score = record["scores"][name]
        for value in (score["value"], score["chance"], *score["per_factor"], record["identity"][name]):
            assert -100 <= value <= 100
        assert len(score["per_factor"]) == len(record["factors"]) == 3
    assert record["seconds"] > 0
    assert record["peak_memory_mb"] > 50
    assert record["source"] == "box, uniform, laplace(scale=0.1), N = 3, K = 3"
    assert record["learner"] == "box, laplace"
    assert record["settings"]["source"]["conditional"] == {"type": "Laplace", "scale": 0.1}
    assert record["identified_up_to"] == "permutation"
    assert record["fitted"]["conditional"].startswith("laplace(scale=")
    assert record["curve"][-1]["step"] == 20
    assert record["curve"][-1]["mcc"] == record["scores"]["mcc"]["value"]
    assert set(record["versions"]) == {"identica", "python", "torch", "numpy"}


def test_codes_are_stored_with_the_record(runs: Path) -> None:
    run, store = small_run(), RunStore(runs)
    record = execute(run, store, device="cpu")
    arrays = store.arrays(run.name)
    found = 100 * mcc(arrays["factors"], arrays["codes"]).value
    assert found == pytest.approx(record["scores"]["mcc"]["value"], abs=1e-3)
    assert sorted(path.name for path in (runs / run.name).iterdir()) == [
        "codes.npz",
        "cost.json",
        "learner.safetensors",
        "record.json",
    ]


def test_a_finished_run_is_never_computed_again(runs: Path) -> None:
    run, store = small_run(), RunStore(runs)
    first = execute(run, store, device="cpu")
    stamp = (runs / run.name / "record.json").stat().st_mtime_ns
    assert execute(run, store, device="cpu") == store.load(run.name)
    assert first["scores"] == store.load(run.name)["scores"]  # type: ignore[index]
    assert (runs / run.name / "record.json").stat().st_mtime_ns == stamp


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    one, two, other = small_run(), small_run(), small_run(seed=1)
    for name, run in (("a", one), ("b", two), ("a", other)):
        execute(run, RunStore(tmp_path / name), device="cpu")
    files = [tmp_path / "a" / one.name, tmp_path / "b" / one.name, tmp_path / "a" / other.name]
    first, second, third = ((folder / "record.json").read_bytes() for folder in files)
    assert first == second
    assert first != third


def test_training_longer_identifies_more(runs: Path) -> None:
    short, long = (execute(small_run(steps=steps), RunStore(runs), device="cpu") for steps in (5, 600))
    reached = long["scores"]["mcc"]["value"]
    assert reached > short["scores"]["mcc"]["value"] + 10
    assert reached > 85
    assert reached > long["identity"]["mcc"]


def test_the_supervised_baseline_sees_the_latents(runs: Path) -> None:
    record = execute(small_run(steps=1000, supervised=True), RunStore(runs), device="cpu")
    assert record["kind"] == "supervised"
    assert record["scores"]["mcc"]["value"] > 95


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import identica.training
identica.training.train.__kwdefaults__["checkpoint_seconds"] = 0.05
from small import small_run
from identica.experiments import RunStore, execute
print("started", flush=True)
execute(small_run(steps=400), RunStore(Path(sys.argv[1])), device="cpu")
"""


def test_a_run_killed_half_way_ends_as_an_uninterrupted_one(tmp_path: Path, eager_environment: dict[str, str]) -> None:
    run = small_run(steps=400)
    folder = str(Path(__file__).parent)
    arguments = [sys.executable, "-c", SCRIPT, str(tmp_path / "killed"), folder]
    child = subprocess.Popen(arguments, env=eager_environment, stdout=subprocess.PIPE)
    checkpoint = tmp_path / "killed" / run.name / "checkpoint.safetensors"
    deadline = time.monotonic() + 120
    while not checkpoint.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    store = RunStore(tmp_path / "killed")
    assert store.load(run.name) is None
    assert checkpoint.exists()
    steps: list[int] = []
    execute(run, store, device="cpu", report=lambda step, *_: steps.append(step))
    assert steps[0] > 1
    execute(run, RunStore(tmp_path / "whole"), device="cpu")
    records = [(tmp_path / name / run.name / "record.json").read_bytes() for name in ("killed", "whole")]
    assert records[0] == records[1]


def test_runs_side_by_side_give_the_records_of_runs_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eager_environment: dict[str, str]
) -> None:
    monkeypatch.setattr(os, "environ", os.environ | eager_environment)
    plan = [small_run(seed) for seed in range(3)]
    news: list[Progress] = []
    outcomes = list(LocalEngine(2, "cpu").compute(plan, RunStore(tmp_path / "two"), news.append))
    for outcome in LocalEngine(1, "cpu").compute(plan, RunStore(tmp_path / "one")):
        assert outcome.record is not None
    assert {outcome.run.name for outcome in outcomes} == {run.name for run in plan}
    for run in plan:
        records = [(tmp_path / name / run.name / "record.json").read_bytes() for name in ("one", "two")]
        assert records[0] == records[1]
    assert {progress.name for progress in news} == {run.name for run in plan}


def test_a_process_that_dies_is_told_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eager_environment: dict[str, str]
) -> None:
    monkeypatch.setattr(os, "environ", os.environ | eager_environment)
    plan = [small_run(steps=100_000), small_run(1)]
    killed = False

    def kill(progress: Progress) -> None:
        nonlocal killed
        if progress.name == plan[0].name and not killed:
            killed = True
            (child,) = (p for p in multiprocessing.active_children() if str(p.name) == names[0])
            os.kill(child.pid or 0, signal.SIGKILL)

    names: list[str] = []
    start = multiprocessing.process.BaseProcess.start

    def note(self: multiprocessing.process.BaseProcess) -> None:
        names.append(self.name)
        start(self)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", note)
    outcomes = {outcome.run.name: outcome for outcome in LocalEngine(2, "cpu").compute(plan, RunStore(tmp_path), kill)}
    assert outcomes[plan[0].name].error == "its process ended with code -9"
    assert outcomes[plan[1].name].record is not None


def test_a_diverged_run_is_told_and_leaves_no_record(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from identica.laws import Laplace

    monkeypatch.setattr(Laplace, "sample", lambda self, space, mean, generator: mean * np.nan)
    (outcome,) = LocalEngine(1, "cpu").compute([small_run()], RunStore(runs))
    assert outcome.record is None
    assert "the loss became nan at step 1 of 20" in (outcome.error or "")
    assert list(RunStore(runs).records()) == []


def test_unreadable_stores_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="must be a folder"):
        RunStore(tmp_path / "file")
    broken = tmp_path / "runs" / "r"
    broken.mkdir(parents=True)
    (broken / "record.json").write_text("{half")
    with pytest.raises(InputError, match=r"record\.json is not a readable record"):
        list(RunStore(tmp_path / "runs").records())


def test_records_of_an_older_format_are_named(tmp_path: Path) -> None:
    for name, older in (("early", {"row": "t2-01"}), ("one", {"settings": {"format": 1}})):
        folder = tmp_path / name / "r"
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(json.dumps(older))
        (folder / "cost.json").write_text("{}")
        with pytest.raises(InputError, match=r"record\.json must be of format 2, got (None|1): train it anew"):
            list(RunStore(tmp_path / name).records())


def test_observations_may_have_more_coordinates_than_latents(runs: Path) -> None:
    run = small_run(row=replace(ROW, source=replace(SOURCE, observed=5)))
    execute(run, RunStore(runs), device="cpu")
    assert RunStore(runs).arrays(run.name)["observations"].shape == (4096, 5)


def test_a_stored_run_is_given_the_scores_that_it_lacks(runs: Path) -> None:
    run, store = small_run(), RunStore(runs)
    first = execute(run, store, device="cpu")
    stamp = (runs / run.name / "codes.npz").stat().st_mtime_ns
    more = execute(replace(run, scores=("mcc_spearman", "r2")), store, device="cpu")
    assert (runs / run.name / "codes.npz").stat().st_mtime_ns == stamp
    assert set(more["scores"]) == set(more["identity"]) == {"mcc", "r2", "mcc_spearman"}
    assert all(more["scores"][name] == score for name, score in first["scores"].items())
    assert store.load(run.name) == more


def test_one_run_for_two_rows_has_the_scores_of_both() -> None:
    one = replace(small_run(), title="a", scores=("mcc",))
    both = one.shared_with(replace(one, title="b", scores=("r2", "mcc")))
    assert (both.title, both.scores, both.name) == ("a, b", ("mcc", "r2"), one.name)
    assert both.shared_with(one) == both


def test_networks_may_compute_with_16_bits(runs: Path) -> None:
    plain = small_run(steps=60)
    half = replace(plain, recipe=plain.recipe.in_bfloat16())
    assert half.name != plain.name
    first, second = (execute(run, RunStore(runs), device="cpu") for run in (plain, half))
    assert second["settings"]["recipe"]["encoder"]["bfloat16"] is True
    assert "bfloat16" not in first["settings"]["recipe"]["encoder"]
    losses = [record["curve"][-1]["loss"] for record in (first, second)]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
    assert all(weights.dtype.itemsize != 2 for weights in RunStore(runs).weights(half.name).values())
