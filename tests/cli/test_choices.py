"""What the command line lets held-out pairs choose, and what it says of them."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from identica import ContrastiveICA
from identica.cli._shown import show_fit
from identica.cli._values import lags
from identica.cli._warnings import in_one_line
from identica.datafiles import read_dataset
from identica.verdicts import judge

Command = Callable[..., tuple[int, str, str]]
ROWS = 120
RANDOM = np.random.default_rng(0)
WALK = np.cumsum(RANDOM.laplace(scale=0.1, size=(ROWS, 2)), axis=0)
SESSION = np.repeat(["one", "two"], ROWS // 2)
MOOD = RANDOM.integers(3, size=ROWS)
QUICK = ("--steps", "2", "--batch-size", "32", "--encoder", "linear")
ALL_FITTED = ("--held-out", "0")


@pytest.fixture
def identica(command_line: Command) -> Command:
    table = {"a": WALK[:, 0], "b": WALK[:, 1], "session": SESSION, "mood": MOOD, "speed": WALK[:, 0] ** 2}
    pd.DataFrame(table | {"turn": -WALK[:, 1], "who": np.where(MOOD > 1, "x", "y")}).to_csv("walk.csv", index=False)
    np.savez("walk.npz", x=WALK, trials=SESSION, both=WALK**2, mood=MOOD)
    return command_line


def fit(identica: Command, *words: str) -> dict[str, object]:
    code, out, err = identica("fit", *words, "--out", "model", "--json", *ALL_FITTED, *QUICK)
    assert code == 0, err
    assert err == ""
    found: dict[str, object] = json.loads(out)
    return found


@pytest.mark.parametrize(
    ("text", "found"), [("3", 3), ("1,2,5", [1, 2, 5]), ("1:4", [1, 2, 3, 4]), ("1:3, 8", [1, 2, 3, 8]), ("2:2", 2)]
)
def test_lags_are_numbers_lists_and_ranges(text: str, found: int | list[int]) -> None:
    assert lags(text) == found


def test_several_lags_make_the_pairs_of_each(identica: Command) -> None:
    assert fit(identica, "walk.npz", "--lag", "1:3")["pairs"] == 2 * (59 + 58 + 57)
    assert ContrastiveICA.load("model").lag == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (("walk.csv", "--label", "mood", "--columns", "a,b"), MOOD),
        (("walk.csv", "--label", "speed, turn", "--columns", "a,b"), np.stack([WALK[:, 0] ** 2, -WALK[:, 1]], 1)),
        (("walk.csv", "--label", "mood,who", "--columns", "a,b", "--trial", "session"), None),
        (("walk.csv", "--label", "speed", "--lag", "5", "--trial", "session", "--columns", "a,b"), None),
        (("walk.npz", "--label", "both", "--lag", "2:5"), WALK**2),
        (("walk.npz", "--label", "mood"), MOOD),
    ],
)
def test_measured_behaviour_makes_pairs(identica: Command, words: tuple[str, ...], labels: np.ndarray | None) -> None:
    found = fit(identica, *words)
    assert found["n_components"] == 2
    lag = ContrastiveICA.load("model").lag
    assert (lag is not None) == ("--lag" in words)
    if labels is not None and lag is None:
        model = ContrastiveICA(2, encoder="linear", max_steps=2, batch_size=32, random_state=0)
        trials = SESSION if words[0] == "walk.npz" else None
        assert found["pairs"] == model.fit(WALK, labels=labels, trials=trials).n_pairs_


def test_label_columns_are_no_features(identica: Command) -> None:
    data = read_dataset(Path("walk.csv"), trial="session", labels=["mood", "who"])
    assert data.names == ("a", "b", "speed", "turn")
    assert data.labels is not None
    assert data.labels.shape == (ROWS, 2)
    assert data.labels.dtype.kind == "U"
    data = read_dataset(Path("walk.csv"), columns=["a"], labels=["mood"])
    assert data.labels is not None
    assert data.labels.dtype.kind == "i"
    assert read_dataset(Path("walk.csv"), columns=["a"]).labels is None


def test_settings_reach_the_estimator(identica: Command) -> None:
    words = ("--window", "3", "--scaling", "robust", "--pca-components", "all", "--held-out", "0.5")
    code, out, err = identica("fit", "walk.npz", "--lag", "4", *words, "--out", "model", "--json", *QUICK)
    assert code == 0, err
    found = json.loads(out)
    expected = {"encoder": "linear", "pca_components": None, "scaling": "robust", "window": 3, "steps": 2}
    assert {name: found["chosen"][name] for name in expected} == expected
    assert found["held_out_pairs"] > 20
    assert {"bits", "fitted_bits"} <= {name for name, value in found.items() if isinstance(value, float)}


def test_codes_of_windows_stay_within_the_trials_of_the_fit(identica: Command) -> None:
    words = ("walk.csv", "--columns", "a,b", "--lag", "3", "--window", "3", "--trial", "session", "--report", "p.html")
    fit(identica, *words)
    model = ContrastiveICA.load("model")
    frame = pd.DataFrame(WALK, columns=["a", "b"])
    within, across = model.transform(frame, trials=SESSION), model.transform(frame)
    assert not np.allclose(within, across)

    def codes(*more: str) -> tuple[np.ndarray, str]:
        Path("codes.npy").unlink(missing_ok=True)
        code, _, err = identica("transform", "model", *more, "--out", "codes.npy")
        assert code == 0, err
        return np.load("codes.npy"), err

    assert np.allclose(codes("walk.csv")[0], within, atol=1e-5)
    assert codes("walk.csv")[1] == ""
    frame.assign(day=SESSION).to_csv("new.csv", index=False)
    assert np.allclose(codes("new.csv", "--trial", "day")[0], within, atol=1e-5)
    found, err = codes("new.csv")
    assert np.allclose(found, across, atol=1e-5)
    assert err.startswith("identica: warning: the trials of the fit are not used")
    assert "no column 'session'" in err
    assert len(err.splitlines()) == 1


def test_trials_of_an_array_file_need_no_name(identica: Command) -> None:
    fit(identica, "walk.npz", "--lag", "3", "--window", "3")
    assert identica("transform", "model", "walk.npz", "--out", "codes.npy")[0] == 0
    model = ContrastiveICA.load("model")
    frame = pd.DataFrame(WALK, columns=["x0", "x1"])
    assert np.allclose(np.load("codes.npy"), model.transform(frame, trials=SESSION), atol=1e-5)


def test_pairs_that_tell_nothing_get_one_line(identica: Command) -> None:
    noise = np.random.default_rng(3).normal(size=(2, 1000, 2))
    np.savez("noise.npz", x=noise[0], x_pos=noise[1])
    words = ("--held-out", "0.4", "--json", *QUICK)
    code, out, err = identica("fit", "noise.npz", "--out", "model", "--report", "p.html", *words)
    assert code == 0
    assert json.loads(out)["bits"] <= 0
    assert err.startswith("identica: warning: these pairs do not tell the factors: ")
    assert len(err.splitlines()) == 1
    assert "These pairs tell nothing." in Path("p.html").read_text(encoding="utf-8")
    code, out, err = identica("consistency", "noise.npz", "--seeds", "2", "--jobs", "1", *words)
    assert code == 0
    assert json.loads(out)["runs"] == 2
    assert err.startswith("identica: warning: these pairs do not tell the factors: in ")
    assert len(err.splitlines()) == 1


def test_other_warnings_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with in_one_line():
        with pytest.raises(DeprecationWarning):
            warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn_explicit("two\nlines", UserWarning, "somewhere.py", 1, module="identica.estimator")
    assert capsys.readouterr().err == "identica: warning: two lines\n"
    assert sys.modules["warnings"].showwarning.__module__ != "identica.cli._warnings"


def shown(capsys: pytest.CaptureFixture[str], bits: float | None, fitted: float | None, tried: int) -> str:
    estimator = SimpleNamespace(
        n_components_=2, n_pairs_=90, ambiguity_="permutation", conditional_="laplace(scale=1)",
        components_used_=np.arange(2), n_held_out_pairs_=10, validation_score_=bits, fitted_bits_=fitted,
        chosen_={"encoder": "mlp", "pca_components": None, "window": 1, "noise": 0.0}, search_=[{}] * tried,
        verdict_=judge(bits, 0.0, fitted, None),
    )  # fmt: skip
    show_fit(estimator, Path("model"), None, 3.0, as_json=False)
    return capsys.readouterr().out


def test_a_fit_says_what_was_chosen_and_how_far_it_holds(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, 2.0, 2.5, 7)
    assert "settings: encoder mlp, pca_components all, window 1, noise 0; the best of 7 by held-out bits\n" in said
    assert "2.00 bits a pair on 10 pairs that were held out, 2.50 on fitted ones; 0 is chance\n" in said
    assert "by heart" not in said
    assert said.startswith("verdict: supported: held-out pairs share 2.00 bits")
    assert "learnt by heart" in shown(capsys, 1.0, 2.5, 7)
    said = shown(capsys, None, None, 1)
    assert "settings: encoder mlp, pca_components all, window 1, noise 0\n" in said
    assert said.startswith("verdict: not checked: no pairs were held out")
    assert "bits" not in said
    said = shown(capsys, -0.1, 0.3, 1)
    assert said.startswith("verdict: these pairs tell nothing: ")
    assert "identified up to" not in said
