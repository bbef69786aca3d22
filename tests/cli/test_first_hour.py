"""What a new user does on the command line in the first hour."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from identica import _names, estimator
from identica.cli import app
from identica.encoders import BACKBONES, SCALINGS
from identica.models import CONDITIONALS
from identica.spaces import NAMED_SPACES

Command = Callable[..., tuple[int, str, str]]
RANDOM = np.random.default_rng(0)
QUICK = ("--steps", "3", "--batch-size", "32")


@pytest.fixture
def identica(command_line: Command) -> Command:
    walk = np.cumsum(RANDOM.laplace(size=(400, 2)), axis=0) @ RANDOM.normal(size=(2, 3)) * 0.1
    table = {"time": np.arange(400) * 0.1, "trial": np.repeat([1, 2, 3, 4], 100)}
    pd.DataFrame(table | {name: walk[:, place] for place, name in enumerate("abc")}).to_csv("rec.csv", index=False)
    np.savez("noise.npz", x=RANDOM.normal(size=(600, 2)), x_pos=RANDOM.normal(size=(600, 2)))
    return command_line


def test_noise_gets_a_verdict_and_no_promise(identica: Command) -> None:
    code, out, _ = identica("fit", "noise.npz", "--out", "model", "--report", "page.html", *QUICK)
    assert code == 0
    assert out.startswith("verdict: these pairs tell nothing: codes of held-out pairs share ")
    assert "identified up to" not in out
    page = Path("page.html").read_text(encoding="utf-8")
    top = page[page.index("<h1>") : page.index("<nav")]
    assert "<b>These pairs tell nothing.</b>" in top
    assert "identified" not in top
    assert "Recovered factors" not in page


def test_time_and_trial_are_left_out_and_columns_are_listed(identica: Command) -> None:
    code, out, err = identica("fit", "rec.csv", "--lag", "2", "--n-components", "2", "--out", "model", *QUICK)
    assert code == 0, err
    assert "\ncolumns: a, b, c\n" in out
    assert "note: the time is 'time', the trial is 'trial'" in err
    words = ("fit", "rec.csv", "--lag", "2", "--n-components", "2", "--held-out", "0", "--json", *QUICK)
    found = json.loads(identica(*words, "--out", "again")[1])
    assert found["columns"] == ["a", "b", "c"]
    assert found["pairs"] == 4 * 98
    kept = json.loads(identica(*words, "--exclude", "b", "--time", "time", "--out", "third")[1])
    assert kept["columns"] == ["a", "c"]
    assert identica("transform", "third", "rec.csv", "--out", "codes.csv")[0] == 0


def test_consistency_of_models_selects_columns_and_refuses_options_of_a_fit(identica: Command) -> None:
    for seed in ("0", "1"):
        words = ("--lag", "1", "--columns", "a,c", "--seed", seed, "--out", f"m{seed}")
        assert identica("fit", "rec.csv", *words, *QUICK)[0] == 0
    code, out, err = identica("consistency", "rec.csv", "m0", "m1", "--json")
    assert code == 0, err
    assert len(json.loads(out)["per_component"]) == 2
    for words in (("--seeds", "5"), ("--n-components", "3"), ("--lag", "1"), ("--steps", "3"), ("--space", "box")):
        code, out, err = identica("consistency", "rec.csv", "m0", "m1", *words)
        assert (code, out) == (2, "")
        assert f"{words[0]} must be left out with models" in err


def test_too_few_rows_are_refused(identica: Command) -> None:
    pd.DataFrame(RANDOM.normal(size=(8, 13)), columns=list("abcdefghijklm")).to_csv("few.csv", index=False)
    code, _, err = identica("fit", "few.csv", "--lag", "2", "--n-components", "3", "--out", "model", *QUICK)
    assert code == 2
    assert "3 components of 13 features need at least 13 pairs, got 6 pairs" in err
    assert not Path("model").exists()


def test_a_sphere_alone_has_its_own_law(identica: Command) -> None:
    words = ("fit", "rec.csv", "--lag", "1", "--space", "sphere", "--out", "model", "--json", *QUICK)
    found = json.loads(identica(*words)[1])
    assert found["conditional"] == "vmf"


@pytest.mark.parametrize(
    ("words", "newer"),
    [
        (("fit", "rec.csv", "--random-state", "1"), "--seed"),
        (("fit", "rec.csv", "--validation-fraction=0.1"), "--held-out"),
        (("fit", "rec.csv", "--max-steps", "3"), "--steps"),
        (("select", "rec.csv", "--workers", "3"), "--jobs"),
        (("reproduce", "t2-01", "--max-steps", "3"), "--steps"),
        (("reproduce", "t2-01", "--workers", "3"), "--jobs"),
        (("theory", "uniformity", "--max-steps", "3"), "--steps"),
        (("demo", "--max-steps", "3"), "--steps"),
    ],
)
def test_older_names_are_refused_and_the_newer_named(identica: Command, words: tuple[str, ...], newer: str) -> None:
    code, out, err = identica(*words)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"identica: --[a-z-]+ is {newer} now: give {newer}\n", err)


def test_an_option_has_one_name_in_all_commands() -> None:
    import typer.main

    def commands(group: object) -> list[object]:
        below = getattr(group, "commands", {}).values()
        return [one for each in below for one in commands(each)] or [group]

    every = commands(typer.main.get_command(app))
    names = {name for command in every for parameter in command.params for name in parameter.opts}  # type: ignore[attr-defined]
    assert {"--seed", "--steps", "--jobs", "--held-out", "--config", "--quiet"} <= names
    assert not {"--random-state", "--max-steps", "--workers", "--validation-fraction"} & names
    for command in every:
        found = {name for parameter in command.params for name in parameter.opts}  # type: ignore[attr-defined]
        assert {"--config", "--quiet"} <= found


def test_options_come_from_a_file(identica: Command) -> None:
    Path("run.toml").write_text(
        'seed = 3\n[fit]\nlag = [1, 2]\nn-components = 2\nout = "model"\n'
        'steps = 3\nbatch_size = 32\njson = true\ncolumns = ["a", "c"]\n[select]\njobs = 1\n'
    )
    code, out, err = identica("fit", "rec.csv", "--config", "run.toml")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n_components"], found["columns"], found["steps"]) == (2, ["a", "c"], 3)
    model = estimator.ContrastiveICA.load("model")
    assert (model.lag, model.random_state) == ([1, 2], 3)
    found = json.loads(identica("fit", "rec.csv", "--config", "run.toml", "--steps", "2", "--overwrite")[1])
    assert found["steps"] == 2
    for text, message in (
        ("[fit]\nlagg = 1\n", "'lagg' in 'bad.toml' is no option of `fit`: did you mean 'lag'?"),
        ("lag = \n", "--config 'bad.toml' cannot be read as .toml"),
    ):
        Path("bad.toml").write_text(text)
        code, _, err = identica("fit", "rec.csv", "--out", "m", "--config", "bad.toml")
        assert code == 2
        assert message in err
    assert "cannot be read" in identica("rows", "--config", "gone.toml")[2]


def test_quiet_leaves_results_and_warnings(identica: Command) -> None:
    words = ("fit", "rec.csv", "--lag", "1", "--held-out", "0", *QUICK)
    assert identica(*words, "--out", "model", "--quiet") == (0, "", "")
    assert identica("transform", "model", "rec.csv", "--out", "codes.csv", "-q") == (0, "", "")
    code, out, _ = identica("score", "codes.csv", "codes.csv", "--scores", "mcc", "--quiet")
    assert code == 0
    assert out.startswith("mcc")
    assert json.loads(identica(*words, "--out", "more", "--quiet", "--json")[1])["pairs"] > 0


def test_ctrl_c_in_a_fit_says_what_is_kept(identica: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator.ContrastiveICA, "fit", interrupt)
    code, out, err = identica("fit", "rec.csv", "--lag", "1", "--quiet", "--out", "model", *QUICK)
    assert (code, out) == (130, "")
    assert err == "identica: interrupted; nothing was written, and what is at the places to write to is as it was\n"
    assert not Path("model").exists()


@pytest.mark.parametrize("words", [("-h",), ("fit", "-h"), ("theory", "-h"), ("theory", "theorem1", "-h")])
def test_help_has_a_short_name(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, list(words))
    assert shown.exit_code == 0
    assert "-h, --help" in shown.output


def test_shells_complete() -> None:
    environment = {
        "_IDENTICA_COMPLETE": "complete_bash",
        "COMP_WORDS": "identica fit rec.csv --n-comp",
        "COMP_CWORD": "3",
    }
    done = CliRunner().invoke(app, [], prog_name="identica", env=environment)
    assert "--n-components" in done.output


def test_names_that_are_checked_early_are_those_that_there_are() -> None:
    assert set(_names.SPACES) == set(NAMED_SPACES)
    assert set(_names.CONDITIONALS) == {"auto", "gennorm(beta=3)", *CONDITIONALS}
    assert set(_names.ENCODERS) == {"auto", "deep mlp", *BACKBONES}
    assert set(_names.SCALINGS) == {"auto", *SCALINGS}


HEAVY = ("torch", "sklearn", "scipy", "pandas", "matplotlib", "plotly", "lightning_fabric")
SCRIPT = f"""
import sys, time
try:
    from identica.__main__ import main
except SystemExit as stop:
    loaded = [name for name in {HEAVY} if name in sys.modules]
    print(stop.code or 0, time.process_time(), *loaded)
"""


@pytest.mark.parametrize(
    ("words", "code", "seconds"),
    [
        (("--help",), 0, 0.5),
        (("fit", "--help"), 0, 0.5),
        (("--version",), 0, 0.5),
        (("fit", "gone.csv", "--lag", "1", "--out", "m"), 2, 2),
        (("fit", "gone.csv", "--lagg", "1"), 2, 2),
        (("fit", "gone.csv", "--lag", "two", "--out", "m"), 2, 2),
        (("fit", "gone.csv", "--space", "ball", "--out", "m"), 2, 2),
        (("fit", "gone.csv", "--scaling", "cube", "--out", "m"), 2, 2),
        (("fit", "gone.csv", "--out", "/proc/foo"), 2, 2),
        (("transform", "gone", "gone.csv", "--out", "codes.csv"), 2, 2),
        (("select", "gone.csv", "--lag", "1"), 2, 2),
        (("consistency", "gone.csv", "--lag", "1"), 2, 2),
        (("table", "gone"), 2, 2),
        (("reproduce", "t2-01", "--jbos", "1"), 2, 2),
    ],
)
def test_words_are_checked_before_anything_heavy_is_imported(
    words: tuple[str, ...], code: int, seconds: float, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True
    )
    found, spent, *loaded = done.stdout.splitlines()[-1].split()
    assert (int(found), loaded) == (code, [])
    assert float(spent) < seconds  # of processor time, so that a busy machine does not count
