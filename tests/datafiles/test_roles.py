from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from identica._checks import InputError
from identica.datafiles import read_dataset

RANDOM = np.random.default_rng(0)
COUNT = 60


def write(path: Path, **more: Any) -> Path:
    channels = {f"ch{number}": RANDOM.normal(size=COUNT) for number in range(3)}
    pd.DataFrame(more | channels).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "time",
    [
        np.arange(COUNT) * 0.01,
        np.tile(np.arange(20), 3),
        np.arange(COUNT),
        pd.date_range("2024-01-01", periods=COUNT, freq="s"),
    ],
)
@pytest.mark.parametrize("trial", [np.repeat([1, 2, 3], 20), np.repeat(["a", "b", "a"], 20)])
def test_time_and_trial_are_no_features(tmp_path: Path, time: Any, trial: Any) -> None:
    data = read_dataset(write(tmp_path / "rec.csv", Time=time, trial_id=trial))
    assert data.names == ("ch0", "ch1", "ch2")
    assert data.trial == "trial_id"
    assert data.trials is not None
    assert np.array_equal(data.trials, trial)
    assert data.notes == (
        "the time is 'Time', the trial is 'trial_id': by name and values no feature; --columns chooses otherwise",
    )
    chosen = read_dataset(tmp_path / "rec.csv", columns=["ch0"])
    assert (chosen.names, chosen.trials, chosen.notes) == (("ch0",), None, ())


def test_names_alone_or_values_alone_are_not_enough(tmp_path: Path) -> None:
    path = write(
        tmp_path / "rec.csv", time=RANDOM.normal(size=COUNT), depth=np.arange(COUNT), level=np.arange(COUNT) // 20
    )
    data = read_dataset(path)
    assert data.names == ("time", "depth", "level", "ch0", "ch1", "ch2")
    assert len(data.notes) == 2
    assert "column 'depth' only ever rises or falls, like a clock: --exclude depth" in data.notes[0]
    assert "column 'level' is constant for many rows, like a trial: --trial level" in data.notes[1]
    assert read_dataset(path, exclude=["depth", "level"]).notes == ()
    with pytest.raises(InputError, match=r"column 'depth' .* is excluded"):
        read_dataset(path, columns=["depth"], exclude=["depth"])


def test_of_several_trials_the_finest_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "rec.csv", session=np.repeat([1, 2], 30), trial=np.repeat(np.arange(6), 10))
    data = read_dataset(path)
    assert (data.trial, data.names) == ("trial", ("ch0", "ch1", "ch2"))
    assert "'session' is left out" in data.notes[0]
    assert read_dataset(path, trial="session").trial == "session"


def test_time_must_rise(tmp_path: Path) -> None:
    path = write(tmp_path / "rec.csv", at=np.tile(np.arange(20), 3), who=np.repeat(["a", "b", "c"], 20))
    with pytest.raises(InputError, match=r"does not at row 20 \(counted from 0\)"):
        read_dataset(path, time="at", exclude=["who"])
    assert read_dataset(path, time="at", trial="who").names == ("ch0", "ch1", "ch2")


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ";"), (".csv", "\t"), (".csv", "|"), (".tsv", ",")])
def test_another_delimiter_is_named(tmp_path: Path, suffix: str, delimiter: str) -> None:
    path = tmp_path / f"rec{suffix}"
    path.write_text(f"a{delimiter}b\n1{delimiter}2\n3{delimiter}4\n")
    wanted = "tabs" if suffix == ".tsv" else "commas"
    with pytest.raises(InputError) as caught:
        read_dataset(path)
    assert f"must have {wanted} between its columns, but its first line has {delimiter!r}" in str(caught.value)


def test_arrays_of_three_axes_are_asked_about(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(5, 12, 3))
    np.save(tmp_path / "x.npy", x)
    with pytest.raises(InputError, match=r"give --layout trials .* or --layout images"):
        read_dataset(tmp_path / "x.npy")
    trials = read_dataset(tmp_path / "x.npy", layout="trials")
    assert trials.observations.shape == (60, 3)
    assert trials.trials is not None
    assert np.array_equal(trials.trials, np.repeat(np.arange(5), 12))
    assert read_dataset(tmp_path / "x.npy", layout="images").observations.shape == (5, 1, 12, 3)
