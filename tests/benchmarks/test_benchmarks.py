from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from identica.objectives import DotProduct, InfoNCE, PowerDistance
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
