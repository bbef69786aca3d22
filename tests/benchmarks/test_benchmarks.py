from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import image_recipe
import recipe
import recordings
import selection
import threedident_recipe
import threedident_wide
from identica.experiments import ROWS
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import contrastive_recipe
from identica.similarities import DotProduct, PowerDistance
from identica.spaces import Box
from textbook import textbook_info_nce

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("power", [None, 1.0, 2.0, 3.0])
def test_the_textbook_loss_is_the_same_loss(power: float | None, generator: torch.Generator) -> None:
    anchors, positives = (torch.rand(40, 5, generator=generator, requires_grad=True) for _ in range(2))
    ours = InfoNCE(DotProduct() if power is None else PowerDistance(power))(anchors, positives)
    theirs = textbook_info_nce(anchors, positives, power)
    assert torch.allclose(ours, theirs, rtol=1e-5)
    for one, two in zip(*(torch.autograd.grad(loss, (anchors, positives)) for loss in (ours, theirs)), strict=True):
        assert torch.allclose(one, two, rtol=1e-4, atol=1e-7)


@pytest.mark.slow
def test_a_step_is_measured_against_the_bare_encoder() -> None:
    command = [sys.executable, str(BENCHMARKS / "step.py"), "--json", "--repeats", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert set(result["ratio_to_encoder"]) == {"dot", "1", "2", "3"}
    assert all(ratio > 0.5 for ratio in result["ratio_to_encoder"].values())
    assert 100 < result["peak_mb"] < 900


@pytest.mark.slow
def test_the_loss_takes_memory_for_points_not_for_pairs() -> None:
    words = ["sizes", "--name", "1", "--sizes", "[[8192, 10], [16384, 10]]", "--memory"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "loss.py"), *words], capture_output=True, text=True, check=True
    )
    _, large = json.loads(done.stdout)
    assert large < 100  # all pairs at once would be 1024 MB


def scores(r2: float, mcc: float) -> dict[str, dict[str, float]]:
    return {"r2": {"value": r2}, "mcc": {"value": mcc}}


def test_each_part_changes_what_it_names() -> None:
    whole = contrastive_recipe("fast", Model(Box(10), "gennorm(beta=3)"))
    for part in recipe.PARTS[1:]:
        changed = part.changed(whole)
        for name in ("contrastive", "encoder", "training"):
            before, after = asdict(getattr(whole, name)), asdict(getattr(changed, name))
            assert {key: after[key] for key in after if after[key] != before[key]} == getattr(part, name)
    assert recipe.PARTS[0].changed(whole) == whole


def test_the_ablation_is_planned_and_shown(tmp_path: Path) -> None:
    runs = recipe.plan(["t1-01", "t2-02"], 100)
    assert {run.recipe.training.steps for run in runs.values()} == {100}
    assert len({run.name for run in runs.values()}) == len(runs)  # every part changes something
    assert ("t1-01", "sigmoid bounds or raw codes, no moments") not in runs
    curve = [{"step": step, "r2": 90.0, "mcc": 90.0} for step in (50, 100)]
    results: dict[tuple[str, str], dict[str, Any] | str] = {
        key: {"scores": scores(99.0, 98.0), "seconds": 12.0, "steps": 100, "curve": curve} for key in runs
    }
    worse = {"scores": scores(90.0, 90.0), "seconds": 12.0, "steps": 100, "curve": curve}
    results["t2-02", "no whitening"] = worse
    results["t1-01", "no whitening"] = "the loss became nan"
    line = next(line for line in recipe.markdown(results).splitlines() if line.startswith("| no whitening"))
    assert line == "| no whitening | diverged | **90.00** (12) |"
    recipe.draw(results, tmp_path / "ablation.png")
    assert (tmp_path / "ablation.png").read_bytes().startswith(b"\x89PNG")
    record = {"seed": 0, "kind": "unsupervised", "seconds": 9.0, "steps": 100, "curve": curve}
    rows = [record | {"settings": ROWS[row].run(0).settings} for row in ("t1-01", "t2-02")]
    recipe.draw_rows(rows, tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_image_loop_is_measured_against_the_bare_encoder() -> None:
    words = ["--json", "--steps", "1", "--turns", "1", "--size", "16", "--threads", "1"]
    command = [sys.executable, str(BENCHMARKS / "images.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert set(result["layouts"]) == {"folded", "channels last", "planes"}
    for one in result["layouts"].values():
        assert 0 < one["ratio"] < 1.5
        assert 0 < one["data_loading_share"] < 0.5
    assert result["machine"]["cores"] >= 1


@pytest.mark.slow
def test_a_short_torture_finds_nothing() -> None:
    command = [sys.executable, str(BENCHMARKS / "torture.py"), "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)
    assert (result["differences"], result["failures"]) == ([], [])
    assert result["kills"] >= 6
    assert result["files"] >= 130
    assert done.returncode == 0


@pytest.mark.slow
def test_the_estimate_of_scale_adds_up() -> None:
    command = [sys.executable, str(BENCHMARKS / "scale.py"), "--json", "--images", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert 9e9 < result["image"]["operations"] < 12e9  # three times the 3.6 · 10^9 of a ResNet-18 forwards
    one, eight = (sum(result["steps"][name].values()) for name in ("1 GPU", "8 GPUs"))
    assert one / 8 < eight < one


def test_what_was_published_of_other_methods_is_kept(tmp_path: Path) -> None:
    assert recordings.published(tmp_path / "results.json") == {}
    one = {"recording": "rat", "method": "CEBRA, time", "decoding": 0.4}
    (tmp_path / "results.json").write_text(json.dumps({"results": [one]}))
    assert recordings.published(tmp_path / "results.json") == {("rat", "CEBRA, time"): one}


def test_the_cases_of_selection_are_all_assumptions_in_turn() -> None:
    cases = selection.draw_cases(14, seed=3)
    assert sorted(case.truth for case in cases) == sorted(2 * list(selection.CANDIDATES))
    assert {3 <= case.space.dim <= 8 for case in cases} == {True}
    first, second = selection.draw_pairs(cases[0], 50, seed=1)
    assert first.shape == second.shape == (50, cases[0].space.dim)


def test_the_summary_of_selection_counts_and_names_what_is_wrong() -> None:
    results = [
        {"case": f"case {number}", "truth": ["box", "normal"], "right": number > 0, "seconds": 10.0 * number}
        | {"chosen": "unbounded, normal", "truth_ahead": -0.02}
        for number in range(3)
    ]
    text = selection.summary(results)
    assert "| box, normal | 2 of 3 | 10 (20) |" in text
    assert "2 of 3 right" in text
    assert "- case 0: called unbounded, normal, 0.020 bits before the truth" in text
    assert "case 1" not in text


def test_parts_of_the_protocol_for_images_have_as_many_images_and_are_shown_by_their_bits() -> None:
    parts = image_recipe.PARTS
    runs = image_recipe.plan(["t3-02"], parts, 2, 1000)
    assert len({run.name for run in runs.values()}) == 2 * len(parts)
    assert {run.recipe.training.steps * run.recipe.training.batch_size for run in runs.values()} == {64_000}
    records: dict[tuple[str, str], Any] = {
        key: {
            "curve": [{"held_out_bits": 6.0 + run.seed, "fitted_bits": 9.0}],
            "scores": {"mcc_spearman": {"value": 70}},
        }
        for key, run in runs.items()
    }
    records["t3-02", f"{parts[1].name} 1"] = "the loss is not finite"
    table = image_recipe.markdown(records, ["t3-02"], parts, 2)
    assert "| fast | 6.50 (6.00, 7.00) | 70.0 |" in table
    assert f"| {parts[1].name} | diverged | – |" in table
    assert image_recipe.bits({"curve": [{"fitted_bits": 2.5}]}) == 2.5


def test_parts_of_the_protocol_for_scenes_have_as_many_pictures() -> None:
    runs = threedident_recipe.plan(range(1, threedident_recipe.RENDERED), 600)
    assert len({run.name for run in runs.values()}) == len(runs) == 10
    assert {run.recipe.training.steps * run.recipe.training.batch_size for run in runs.values()} == {76_800}
    in_a_box, on_a_sphere = threedident_recipe.plan([6, 8], 600).values()
    assert on_a_sphere.recipe.encoder.network == in_a_box.recipe.encoder.network == "glimpse"
    assert on_a_sphere.learner.code_space.name == "sphere"
    (rendered,) = threedident_recipe.plan([threedident_recipe.RENDERED], 600).values()
    assert "(rendered)" in str(rendered.source)
    scores = {"r2": {"value": 64.5, "per_factor": [90.0] * 3 + [1.0, 2.0, 3.0] + [90.0] * 4}, "mcc": {"value": 65.0}}
    record = {"curve": [{"fitted_bits": 8.0}], "scores": scores, "seconds": 360.0}
    table = threedident_recipe.markdown({("t4-01", "fast"): record, ("t4-01", "other"): "the loss is not finite"})
    assert "| fast | 8.00 | 64.5 | 65.0 | 90.0 | 2.0 | 6 |" in table
    assert "| other | the loss is not finite |" in table


def test_wide_codes_are_read_off_with_labels() -> None:
    random = np.random.default_rng(0)
    factors = random.uniform(-1, 1, (3000, 10))
    wide = np.concatenate([factors, factors**3], axis=1) @ random.normal(size=(20, 24))
    read = threedident_wide.read_with_labels((wide[:2500], factors[:2500]), wide[2500:])
    lines = [threedident_wide.line(name, factors[2500:], found) for name, found in read.items()]
    assert lines[0] == "| a linear map, with labels | 100.0 | 100.0, 100.0, 100.0 | 100.0 |"
    assert lines[1].startswith("| a small network, with labels | 9")
