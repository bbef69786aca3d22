"""Files of other programs: MATLAB, and Neurodata Without Borders."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from identica._checks import InputError
from identica.datafiles import _arrays, read_array, read_dataset

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
TRIALS = np.repeat([1, 2], 20)


def older(path: Path, **arrays: np.ndarray) -> None:
    scipy.io.savemat(path, arrays)


def newer(path: Path, **arrays: np.ndarray) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            file[name] = (values[:, None] if values.ndim == 1 else values).T
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(512))


@pytest.mark.parametrize("write", [older, newer])
def test_matlab(tmp_path: Path, write: object) -> None:
    assert callable(write)
    path = tmp_path / "rec.mat"
    write(path, x=X, x_pos=X + 1, session=TRIALS)
    data = read_dataset(path)
    assert np.array_equal(data.observations, X)
    assert data.positives is not None
    assert np.array_equal(data.positives, X + 1)
    write(path, spikes=X)
    assert np.array_equal(read_dataset(path).observations, X)
    assert np.array_equal(read_array("latents", path), X)
    write(path, spikes=X, session=TRIALS)
    data = read_dataset(path, array="spikes", trial="session")
    assert data.trials is not None
    assert np.array_equal(data.trials, TRIALS)
    with pytest.raises(InputError, match=r"no array 'x': .*it has 'spikes', 'session'|it has 'session', 'spikes'"):
        read_dataset(path)
    write(path, x=RANDOM.normal(size=(4, 10, 3)))
    assert read_dataset(path, layout="trials").observations.shape == (40, 3)
    path.write_bytes(b"MATLAB 5.0 MAT-file")
    with pytest.raises(InputError, match=r"cannot be read as \.mat"):
        read_dataset(path)


def nwb(path: Path, series: tuple[str, ...] = ("acquisition/lfp",), stamped: bool = True) -> None:
    with h5py.File(path, "w") as file:
        for place in series:
            group = file.create_group(place)
            group["data"] = X
            if stamped:
                group["timestamps"] = np.arange(40) * 0.5
            else:
                group["starting_time"] = 0.0
                group["starting_time"].attrs["rate"] = 2.0
        trials = file.create_group("intervals/trials")
        trials["start_time"], trials["stop_time"] = [0.0, 10.0], [4.5, 14.5]
        trials["side"] = np.array(["left", "right"], dtype=h5py.string_dtype())


@pytest.mark.parametrize("stamped", [True, False])
def test_nwb(tmp_path: Path, stamped: bool) -> None:
    path = tmp_path / "rec.nwb"
    nwb(path, stamped=stamped)
    assert np.array_equal(read_dataset(path).observations, X)
    data = read_dataset(path, trial="trials")
    inside = [*range(10), *range(20, 30)]
    assert np.array_equal(data.observations, X[inside])
    assert data.trials is not None
    assert data.trials.tolist() == [0] * 10 + [1] * 10
    named = read_dataset(path, trial="side").trials
    assert named is not None
    assert set(named.tolist()) == {"left", "right"}
    nwb(path, ("acquisition/lfp", "processing/behavior/position"))
    with pytest.raises(InputError, match=r"must have one series, or --array must name one: .*'acquisition/lfp'"):
        read_dataset(path)
    assert read_dataset(path, array="position").observations.shape == (40, 3)
    with pytest.raises(InputError, match="no column of trials 'mood'"):
        read_dataset(path, array="lfp", trial="mood")


@pytest.mark.parametrize("suffix", [".npy", ".h5"])
def test_large_arrays_stay_on_disk(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_arrays, "_LARGE", 100)
    path = tmp_path / f"x{suffix}"
    if suffix == ".npy":
        np.save(path, X)
    else:
        with h5py.File(path, "w") as file:
            file["x"], file["trials"] = X, TRIALS
    data = read_dataset(path)
    assert type(data.observations) is not np.ndarray
    assert np.array_equal(np.asarray(data.observations[3:5]), X[3:5])
    assert "a fit reads blocks" in data.notes[0]
    assert (data.trials is None) == (suffix == ".npy")
    with pytest.raises(InputError, match="cannot be chosen"):
        read_dataset(path, columns=["x0"])
