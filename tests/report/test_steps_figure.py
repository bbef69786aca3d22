from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from identica._checks import InputError
from identica.report import describe_steps, draw_steps, fit_steps, summarise_steps

LAPLACE = np.random.default_rng(0).laplace(1.0, 2.0, 20_000)


def test_laws_are_those_of_most_likelihood() -> None:
    found = fit_steps(LAPLACE)
    laws = found["laws"]
    assert laws["generalised normal"]["beta"] == pytest.approx(1.0, abs=0.05)
    assert laws["laplace"]["scale"] == pytest.approx(2.0, rel=0.03)
    for name, law in (("laplace", stats.laplace), ("normal", stats.norm)):
        expected = law(*law.fit(LAPLACE)).logpdf(LAPLACE).mean()
        assert laws[name]["nats_a_step"] == pytest.approx(expected, abs=1e-3)
    best = laws["generalised normal"]["nats_a_step"]
    assert best >= laws["laplace"]["nats_a_step"] > laws["normal"]["nats_a_step"]
    normal = fit_steps(np.random.default_rng(1).normal(size=20_000))["laws"]
    assert normal["generalised normal"]["beta"] == pytest.approx(2.0, abs=0.1)
    assert normal["normal"]["nats_a_step"] > normal["laplace"]["nats_a_step"]


def test_densities_in_bins_are_those_of_the_steps() -> None:
    (panel,) = summarise_steps({"1 frame": LAPLACE[:, None]}, ["x"], "made up")["panels"]
    inside = float(np.diff(panel["edges"]) @ panel["density"])
    assert inside == pytest.approx(0.995, abs=0.001)


def test_the_figure_has_a_panel_for_each_gap_and_factor(tmp_path: Path) -> None:
    steps = np.stack([LAPLACE, LAPLACE**3], axis=1)
    summary = summarise_steps({"1 frame": steps, "5 frames": 2 * steps}, ["x", "area"], "made up")
    assert [(panel["gap"], panel["factor"]) for panel in summary["panels"]] == [
        ("1 frame", "x"),
        ("1 frame", "area"),
        ("5 frames", "x"),
        ("5 frames", "area"),
    ]
    assert describe_steps(summary).count("nats a step: normal") == 4
    draw_steps(summary, tmp_path / "steps.png")
    with Image.open(tmp_path / "steps.png") as image:
        assert min(image.size) > 400


def test_bad_steps_are_refused() -> None:
    with pytest.raises(InputError, match="steps must be finite and not all the same, got 3 of them"):
        fit_steps([1.0, 1.0, 1.0])
    with pytest.raises(InputError, match=r"steps must have shape \[pairs, 2\], got \[20000, 1\]"):
        summarise_steps({"1 frame": LAPLACE[:, None]}, ["x", "y"], "made up")
