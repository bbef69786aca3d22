from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from identica.metrics import SCORES

Command = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(__file__).parents[2] / "examples"
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(size=(300, 3))
NEAR = X + RANDOM.laplace(scale=0.05, size=X.shape)
QUICK = ("--steps", "3", "--batch-size", "32")


@pytest.fixture
def identica(command_line: Command) -> Command:
    return command_line


def table(path: str, **columns: np.ndarray) -> None:
    pd.DataFrame(columns).to_csv(path, index=False)


def series(path: str) -> None:
    table(path, a=X[:, 0], b=X[:, 1], session=np.repeat(["one", "two"], 150))


def test_pairs_from_arrays_to_scores(identica: Command) -> None:
    np.savez("pairs.npz", x=X, x_pos=NEAR)
    np.save("latents.npy", X)
    code, out, err = identica(
        "fit",
        "pairs.npz",
        "--n-components",
        "3",
        "--seed",
        "1",
        "--out",
        "model",
        "--steps",
        "200",
        "--batch-size",
        "128",
        "--held-out",
        "0.1",
        "--json",
    )
    assert code == 0, err
    fitted = json.loads(out)
    assert fitted["pairs"] == 270
    assert fitted["held_out_pairs"] == 30
    assert 1 < fitted["bits"] < np.log2(30)
    assert 1 < fitted["fitted_bits"] < np.log2(30)
    assert fitted["chosen"]["steps"] == fitted["steps"] == 200
    assert fitted["chosen"]["encoder"] == "mlp"
    assert [one["held_out_bits"] for one in fitted["tried"]] == [fitted["bits"]]
    assert identica("transform", "model", "pairs.npz", "--out", "codes.npz")[0] == 0
    assert np.load("codes.npz")["codes"].shape == (300, 3)
    code, out, err = identica("score", "latents.npy", "codes.npz", "--json")
    assert code == 0, err
    assert json.loads(out)["mcc"] > 90
    assert set(SCORES) < set(json.loads(out))


def test_scores_are_chosen_by_name(identica: Command) -> None:
    table("factors.csv", a=np.arange(208) % 4, b=np.arange(208) // 52)
    np.save("codes.npy", np.stack([np.arange(208) // 52, np.arange(208) % 4], axis=1))
    words = ("score", "factors.csv", "codes.npy", "--scores", "mig,dci,mcc")
    code, out, err = identica(*words)
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [["mig", "100.00"], ["dci", "100.00"], ["mcc", "100.00"]]
    found = json.loads(identica(*words, "--kinds", "ordinal,categorical", "--json")[1])
    assert list(found) == ["mig", "dci", "mcc", "mig_chance", "dci_chance", "mcc_chance"]


def test_scores_that_do_not_apply_say_why(identica: Command) -> None:
    np.save("few.npy", X[:20])
    code, out, err = identica("score", "few.npy", "few.npy")
    assert code == 0, err
    assert "explicitness   does not apply: latents and codes must have at least 30 samples, got 20" in out
    assert out.splitlines()[1].split()[:2] == ["mcc", "100.00"]
    found = json.loads(identica("score", "few.npy", "few.npy", "--json")[1])
    assert set(found["left_out"]) == {"dci", "dci_completeness", "dci_informativeness", "explicitness", "sap"}
    code, out, err = identica("score", "few.npy", "few.npy", "--scores", "sap")
    assert (code, out) == (2, "")
    assert "at least 30 samples, got 20" in err


def test_a_fit_writes_a_page(identica: Command) -> None:
    series("walk.csv")
    code, out, err = identica(
        "fit", "walk.csv", "--trial", "session", "--out", "model", "--report", "page.html", *QUICK
    )
    assert code == 0, err
    assert "report, to open in a browser: page.html" in out
    assert "Over time" in Path("page.html").read_text(encoding="utf-8")


def test_the_same_words_give_the_same_codes(identica: Command) -> None:
    np.savez("pairs.npz", x=X, x_pos=NEAR)
    for name in ("first", "second"):
        assert identica("fit", "pairs.npz", "--out", name, *QUICK)[0] == 0
        assert identica("transform", name, "pairs.npz", "--out", f"{name}.npy")[0] == 0
    assert Path("first.npy").read_bytes() == Path("second.npy").read_bytes()


@pytest.mark.parametrize(
    "how",
    [
        ("--lag", "2", "--columns", "a,b"),
        ("--trial", "session"),
        ("--trial", "session", "--lag", "3"),
        ("--pairs", "list.csv", "--columns", "a, b"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_pair_up_in_many_ways(identica: Command, how: tuple[str, ...], kind: str) -> None:
    series("walk.csv")
    pd.read_csv("walk.csv").to_parquet("walk.parquet")
    Path("list.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(100)))
    code, out, err = identica("fit", f"walk.{kind}", "--out", "model", *how, *QUICK)
    assert code == 0, err
    assert "2 components" in out
    assert identica("transform", "model", f"walk.{kind}", "--out", "codes.csv")[0] == 0
    assert list(pd.read_csv("codes.csv").columns) == ["contrastiveica0", "contrastiveica1"]


def test_partners_in_columns(identica: Command) -> None:
    table("both.csv", a=X[:, 0], b=X[:, 1], a_pos=NEAR[:, 0], b_pos=NEAR[:, 1])
    assert identica("fit", "both.csv", "--out", "model", *QUICK)[0] == 0
    table("one.csv", b=X[:1, 1], a=X[:1, 0])
    code, out, err = identica("transform", "model", "one.csv", "--out", "codes.npz")
    assert code == 0, err
    assert "codes of 1 observations" in out


def test_a_folder_of_images(identica: Command) -> None:
    Path("images").mkdir()
    for i in range(20):
        Image.fromarray(RANDOM.integers(0, 255, size=(16, 16), dtype=np.uint8)).save(f"images/{i}.png")
    Path("pairs.csv").write_text("x,x_pos\n" + "".join(f"{i}.png,{i + 1}.png\n" for i in range(19)))
    code, _, err = identica("fit", "images", "--pairs", "pairs.csv", "--n-components", "2", "--out", "model", *QUICK)
    assert code == 0, err
    assert identica("transform", "model", "images", "--out", "codes.npz")[0] == 0
    assert np.load("codes.npz")["codes"].shape == (20, 2)


def real_data(name: str) -> Path:
    folder = Path(os.environ.get("IDENTICA_DATA", "/nonexistent")) / name
    if not folder.exists():
        pytest.skip(f"needs IDENTICA_DATA, a folder that has {name}/")
    return folder


def test_dsprites_as_a_folder_of_pictures(identica: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    real_data("dsprites")
    monkeypatch.setattr(sys, "argv", ["dsprites_folder.py", "sprites", "--pairs", "300"])
    runpy.run_path(str(EXAMPLES / "dsprites_folder.py"), run_name="__main__")
    words = ("--pairs", "sprites/pairs.csv", "--n-components", "3", "--encoder", "conv", *QUICK)
    code, _, err = identica("fit", "sprites/images", "--out", "model", *words)
    assert code == 0, err
    assert identica("transform", "model", "sprites/images", "--out", "codes.npz")[0] == 0
    code, out, err = identica("score", "sprites/latents.csv", "codes.npz", "--json")
    assert code == 0, err
    assert json.loads(out)["mcc"] > json.loads(out)["mcc_chance"]


def test_clips_of_motion_capture(identica: Command) -> None:
    clips = str(real_data("mocap"))
    words = ("--lag", "12", "--n-components", "4", "--pca-components", "4", "--encoder", "linear", *QUICK)
    code, out, err = identica("consistency", clips, "--seeds", "2", "--jobs", "1", *words, "--json")
    assert code == 0, err
    assert len(json.loads(out)["per_component"]) == 4


def test_select_names_an_assumption(identica: Command) -> None:
    np.savez("pairs.npz", x=X, x_pos=NEAR)
    words = ("select", "pairs.npz", "--candidates", "box/laplace, sphere/vmf", "--jobs", "1", *QUICK)
    code, out, err = identica(*words, "--json")
    assert code == 0, err
    assert {candidate["space"] for candidate in json.loads(out)["candidates"]} == {"box", "sphere"}
    assert "The pairs fit best with" in identica(*words)[1]


def test_consistency_of_refits_and_of_saved_models(identica: Command) -> None:
    series("walk.csv")
    words = ("--columns", "a,b", "--lag", "1", *QUICK)
    code, out, err = identica("consistency", "walk.csv", "--seeds", "2", "--jobs", "1", *words, "--json")
    assert code == 0, err
    assert json.loads(out)["runs"] == 2
    for seed in ("0", "1"):
        identica("fit", "walk.csv", "--out", f"model{seed}", "--seed", seed, *words)
    code, out, err = identica("consistency", "walk.csv", "model0", "model1", "--columns", "a,b")
    assert code == 0, err
    assert "agreement up to a permutation" in out


GOOD_FIT = ("fit", "good.npz", "--out", "model")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fit", "nowhere.npz", "--out", "model"), "'nowhere.npz'"),
        (("fit", "notes.txt", "--out", "model"), ".txt"),
        (("fit", "alone.npz", "--out", "model"), "--lag must be given"),
        (("fit", "nan.npz", "--out", "model"), "3 missing or infinite values"),
        (("fit", "constant.npz", "--out", "model"), "column 'x1' is always 0"),
        (("fit", "unequal.npz", "--out", "model"), "must have the same shape"),
        (("fit", "pickled.npz", "--out", "model"), "'pickled.npz'"),
        (("fit", "words.csv", "--lag", "1", "--out", "model"), "'name'"),
        (("fit", "walk.csv", "--lag", "1", "--columns", "a,c", "--out", "model"), "'c'"),
        (("fit", "walk.csv", "--lag", "1", "--trial", "day", "--out", "model"), "'day'"),
        (("fit", "walk.csv", "--lag", "0", "--columns", "a", "--out", "model"), "--lag must be"),
        (("fit", "walk.csv", "--lag", "999", "--columns", "a,b", "--out", "model"), "lag must be below"),
        (("fit", "good.npz", "--lag", "1", "--out", "model"), "--lag must be left out"),
        (("fit", "few.npz", "--out", "model"), "pairs"),
        ((*GOOD_FIT, "--space", "ball"), "unknown space 'ball'"),
        ((*GOOD_FIT, "--conditional", "gauss"), "conditional 'gauss'"),
        ((*GOOD_FIT, "--n-components", "9"), "n_components must be at most the number of features 3, got 9"),
        ((*GOOD_FIT, "--pca-components", "2"), "pca_components must be from the number of components 3"),
        ((*GOOD_FIT, "--encoder", "vit"), "unknown encoder 'vit'"),
        ((*GOOD_FIT, "--steps", "0"), "max_steps must be"),
        ((*GOOD_FIT, "--max-seconds", "-1"), "max_seconds must be"),
        ((*GOOD_FIT, "--batch-size", "1"), "batch_size must be"),
        ((*GOOD_FIT, "--device", "abacus"), "device 'abacus'"),
        ((*GOOD_FIT, "--held-out", "2"), "--held-out must be auto or a part from 0 to below 1, got '2'"),
        ((*GOOD_FIT, "--held-out", "all"), "--held-out must be auto or a part"),
        ((*GOOD_FIT, "--scaling", "cube"), "unknown scaling 'cube'"),
        ((*GOOD_FIT, "--window", "0"), "--window must be auto or a whole number from 1, got '0'"),
        ((*GOOD_FIT, "--window", "3"), "window needs lag"),
        ((*GOOD_FIT, "--pca-components", "none"), "--pca-components must be auto, all or a whole number from 1"),
        ((*GOOD_FIT, "--label", "x"), "--label must be left out, got 'x'"),
        (("fit", "walk.csv", "--lag", "two", "--out", "model"), "--lag must be whole numbers from 1"),
        (("fit", "walk.csv", "--lag", "5:1", "--out", "model"), "got '5:1'"),
        (("fit", "walk.csv", "--lag", "1,,2", "--out", "model"), "got '1,,2'"),
        (("fit", "walk.csv", "--lag", "1:999999999", "--out", "model"), "--lag must be at most 1000 numbers"),
        (("fit", "walk.csv", "--label", "day", "--out", "model"), "'walk.csv' has no column 'day'"),
        (("fit", "walk.csv", "--label", "a", "--columns", "a,b", "--out", "model"), "'a' of 'walk.csv' is a label"),
        (("fit", "walk.csv", "--label", "a,session", "--out", "model"), "'a' is real and 'session' is not"),
        (("fit", "walk.csv", "--label", "a,a", "--out", "model"), "label must be different names, got 'a' twice"),
        (("fit", "alone.npz", "--label", "speed", "--out", "model"), "'alone.npz' has no array 'speed'"),
        ((*GOOD_FIT, "--report", "page.pdf"), "--report must end in .html"),
        ((*GOOD_FIT, "--seed", "-1"), "--seed must be"),
        (("fit", "good.npz", "--out", "good.npz"), "--out must be a new folder"),
        (("transform", "good.npz", "good.npz", "--out", "codes.npz"), "folder of a saved model"),
        (("select", "good.npz", "--candidates", "box"), "--candidates must be like"),
        (("select", "good.npz", "--jobs", "0"), "--jobs must be"),
        (("consistency", "good.npz", "--seeds", "1"), "seeds must be at least 2"),
        (("score", "good.npz", "few.npz"), "latents"),
        (("score", "x.npy", "x.npy", "--scores", "mgi"), "unknown score 'mgi': did you mean 'mig'? allowed: r2"),
        (("score", "x.npy", "x.npy", "--kinds", "circular"), "kinds must have one entry for each of the 3"),
    ],
)
def test_bad_input_gets_one_line_that_names_it(identica: Command, words: tuple[str, ...], message: str) -> None:
    np.savez("good.npz", x=X, x_pos=NEAR)
    np.save("x.npy", X)
    np.savez("alone.npz", x=X)
    np.savez("nan.npz", x=np.where(np.arange(900).reshape(300, 3) < 3, np.nan, X), x_pos=NEAR)
    np.savez("constant.npz", x=X * [1, 0, 1], x_pos=NEAR)
    np.savez("unequal.npz", x=X, x_pos=NEAR[:-1])
    np.savez("few.npz", x=X[:3], x_pos=NEAR[:3])
    np.savez("pickled.npz", x=np.array([{"a": 1}] * 3, dtype=object))
    table("words.csv", a=X[:, 0], name=np.array(["x", "y", "z"] * 100))
    series("walk.csv")
    Path("notes.txt").write_text("notes")
    code, out, err = identica(*words)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err
    assert not Path("model").exists()
