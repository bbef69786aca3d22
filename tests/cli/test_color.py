from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from identica._checks import InputError
from identica.datafiles import read_dataset

X = np.cumsum(np.random.default_rng(0).laplace(size=(200, 3)), axis=0)
CLOCK = np.arange(200) / 50


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(0, "time", CLOCK)
    frame["position"], frame["side"] = X[:, 0] > 0, np.where(X[:, 1] > 0, "left", "right")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_columns_to_colour_by_are_no_features(table: Path) -> None:
    data = read_dataset(table, beside=["position", "side"])
    assert data.names == ("a", "b", "c")
    assert list(data.beside) == ["position", "side"]
    assert set(data.beside["side"]) == {"left", "right"}
    assert data.time is not None
    assert np.allclose(data.time, CLOCK)


def test_dates_become_seconds(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(0, "time", pd.date_range("2026-01-01", periods=200, freq="2s").astype(str))
    frame.to_csv(tmp_path / "dates.csv", index=False)
    time = read_dataset(tmp_path / "dates.csv").time
    assert time is not None
    assert np.allclose(time, 2 * np.arange(200))


def test_columns_of_an_array_have_their_names(tmp_path: Path) -> None:
    behaviour = X[:, :2]
    np.savez(
        tmp_path / "x.npz", x=X, behaviour=behaviour, behaviour_names=["east", "north"], place=behaviour, time=CLOCK
    )
    data = read_dataset(tmp_path / "x.npz", beside=["behaviour", "place"])
    assert list(data.beside) == ["east", "north", "place[0]", "place[1]"]
    assert np.array_equal(data.beside["north"], X[:, 1])
    assert data.time is not None
    with pytest.raises(InputError, match="elsewhere"):
        read_dataset(tmp_path / "x.npz", beside=["elsewhere"])


def test_the_page_shows_colours_and_time(table: Path, command_line: Callable[..., tuple[int, str, str]]) -> None:
    words = ("fit", str(table), "--lag", "1", "--n-components", "2", "--steps", "2", "--out", "model")
    code, _, err = command_line(*words, "--report", "page.html", "--color", "position,side")
    assert code == 0, err
    page = Path("page.html").read_text(encoding="utf-8")
    for text in ("<option>position</option><option>side</option>", "table.csv", "50 a second", "3: a, b, c"):
        assert text in page
    code, _, err = command_line(*words, "--color", "position", "--overwrite")
    assert code != 0
    assert "--color needs --report" in err
