"""Places to write to are checked before any work."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from identica.estimator import ContrastiveICA

Command = Callable[..., tuple[int, str, str]]
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(300, 3))
QUICK = ("--steps", "3", "--batch-size", "32")


@pytest.fixture
def identica(command_line: Command) -> Command:
    np.savez("pairs.npz", x=X, x_pos=X + RANDOM.laplace(scale=0.05, size=X.shape))
    return command_line


@pytest.fixture
def model(identica: Command) -> Path:
    assert identica("fit", "pairs.npz", "--out", "model", *QUICK)[0] == 0
    return Path("model")


@pytest.fixture
def common_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


BEYOND = "/proc/nowhere/foo"  # not even the administrator can make it


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "pairs.npz", "--out", "/proc/foo", *QUICK), "--out cannot be written to '/proc/foo'"),
        (("fit", "pairs.npz", "--out", BEYOND, *QUICK), f"--out cannot be written to {BEYOND!r}"),
        (("fit", "pairs.npz", "--out", "pairs.npz/m", *QUICK), "--out cannot be written to 'pairs.npz/m'"),
        (("fit", "pairs.npz", "--out", 300 * "m", *QUICK), "file name too long"),
        (("fit", "pairs.npz", "--out", "new", "--report", f"{BEYOND}.html", *QUICK), "--report cannot be written"),
        (("transform", "model", "pairs.npz", "--out", f"{BEYOND}.npz"), "--out cannot be written"),
        (("transform", "model", "pairs.npz", "--out", "codes.txt"), "--out must end in .npz"),
        (("reproduce", "t2-01", "--out", BEYOND), "--out cannot be written"),
        (("figure", "2", "--out", BEYOND), "--out cannot be written"),
        (("demo", "--out", BEYOND), "--out cannot be written"),
        (("export", "model", BEYOND), "TARGET cannot be written"),
        (("theory", "theorem1", "--picture", f"{BEYOND}.png"), "--picture cannot be written"),
        (("theory", "uniformity", "--picture", f"{BEYOND}.png"), "--picture cannot be written"),
    ],
)
def test_places_that_cannot_be_written_are_refused_before_work(
    identica: Command, words: tuple[str, ...], message: str
) -> None:
    Path("model").mkdir()
    Path("model/model.json").touch()
    code, out, err = identica(*words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    assert not Path("new").exists()


def test_folders_above_are_made(identica: Command) -> None:
    words = ("--out", "made/for/model", "--report", "made/too/page.html", *QUICK)
    assert identica("fit", "pairs.npz", *words)[0] == 0
    assert ContrastiveICA.load("made/for/model").n_components_ == 3
    assert Path("made/too/page.html").is_file()
    assert identica("transform", "made/for/model", "pairs.npz", "--out", "far/off/codes.csv")[0] == 0
    assert Path("far/off/codes.csv").is_file()


def test_nothing_is_replaced_unless_asked(identica: Command, model: Path) -> None:
    before = (model / "weights.safetensors").read_bytes()
    Path("page.html").write_text("mine")
    np.save("codes.npy", X)
    for words in (
        ("fit", "pairs.npz", "--out", "model", *QUICK),
        ("fit", "pairs.npz", "--out", "new", "--report", "page.html", *QUICK),
        ("transform", "model", "pairs.npz", "--out", "codes.npy"),
    ):
        code, out, err = identica(*words)
        assert (code, out) == (2, "")
        assert "--overwrite replaces it" in err
    assert (model / "weights.safetensors").read_bytes() == before
    assert Path("page.html").read_text() == "mine"
    words = ("--out", "model", "--report", "page.html", "--overwrite", "--space", "unbounded", *QUICK)
    code, _, err = identica("fit", "pairs.npz", *words)
    assert code == 0, err
    assert "'model' will be replaced" in err
    assert "'page.html' will be replaced" in err
    assert (model / "weights.safetensors").read_bytes() != before
    assert identica("transform", "model", "pairs.npz", "--out", "codes.npy", "--overwrite")[0] == 0
    assert not np.array_equal(np.load("codes.npy"), X)


@pytest.mark.usefixtures("common_umask")
def test_others_may_read_what_is_written(identica: Command) -> None:
    assert identica("fit", "pairs.npz", "--out", "model", "--report", "page.html", *QUICK)[0] == 0
    assert identica("transform", "model", "pairs.npz", "--out", "codes.npz")[0] == 0
    words = ("reproduce", "t2-01", "--steps", "1", "--jobs", "1", "--out", "store")
    assert identica(*words)[0] == 0
    files = [path for path in Path().rglob("*") if path.is_file()]
    assert {"weights.safetensors", "learner.safetensors", "page.html"} <= {path.name for path in files}
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in files} == {
        path.name: "0o644" for path in files
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_weights_that_may_not_be_read_are_not_called_missing(model: Path) -> None:
    (model / "weights.safetensors").chmod(0)
    with pytest.raises(ValueError, match="Permission denied"):
        ContrastiveICA.load(model)
