"""Curves in TensorBoard and MLflow."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from identica._checks import InputError
from identica.experiments import RunStore, execute
from identica.training import check_trackers, make_trackers

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from small import small_run


def tracked(folder: Path, names: Sequence[str]) -> tuple[RunStore, dict[str, Any]]:
    """A short run whose curves are kept; its record is the same bytes as without."""
    run, store, plain = small_run(steps=300), RunStore(folder / "tracked"), RunStore(folder / "plain")
    record = execute(run, store, device="cpu", trackers=names)
    execute(run, plain, device="cpu")
    records = [(one.root / run.name / "record.json").read_bytes() for one in (store, plain)]
    assert records[0] == records[1]
    assert store.names() == [run.name]
    assert not plain.tracking.exists()
    return store, record


def test_tensorboard_has_the_curve_of_a_run(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    store, record = tracked(tmp_path, ["tensorboard"])
    (name,) = store.names()
    events = EventAccumulator(str(store.tracking / "tensorboard" / name))
    events.Reload()
    score = next(one for one in record["curve"][0] if one not in ("step", "loss"))
    assert [one.step for one in events.Scalars(score)] == [one["step"] for one in record["curve"]]
    assert events.Scalars(score)[-1].value == pytest.approx(record["curve"][-1][score])
    losses = {one.step: one.value for one in events.Scalars("loss")}
    assert set(losses) == set(range(3, 301, 3)) | {one["step"] for one in record["curve"]}
    assert losses[300] == pytest.approx(record["curve"][-1]["loss"])


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_mlflow_has_the_curve_of_a_run(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    store, record = tracked(tmp_path, ["mlflow"])
    client = MlflowClient(tracking_uri=f"sqlite:///{store.tracking / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("identica")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.run_name, run.info.status) == (store.names()[0], "FINISHED")
    history = {one.step: one.value for one in client.get_metric_history(run.info.run_id, "loss")}
    assert history[300] == pytest.approx(record["curve"][-1]["loss"])
    (again,) = make_trackers(["mlflow"], store.tracking, store.names()[0])
    again.log_metrics({"loss": 0.5}, step=301)
    assert len(client.search_runs([experiment.experiment_id])) == 1, "a run that goes on stays one"


def test_what_cannot_be_kept_is_told_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="unknown tracker 'tensorbord': did you mean 'tensorboard'"):
        check_trackers(["tensorbord"], tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"the tracker mlflow needs the library mlflow: pip install 'identica\[tr"):
        check_trackers(["mlflow"], tmp_path)
    assert list(tmp_path.iterdir()) == []
