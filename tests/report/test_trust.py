from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identica import ContrastiveICA
from identica.fitting import learnt_by_heart
from identica.report._sections import make_sections
from identica.report._trust import notice, trust
from identica.report.page import Report
from identica.report.sources import report_of_fit
from identica.verdicts import judge

CODES = np.random.default_rng(0).normal(size=(40, 2))
TRIED = [
    {
        "encoder": encoder,
        "pca_components": directions,
        "scaling": "none",
        "steps": 100,
        "noise": 0.0,
        "held_out_bits": bits,
        "fitted_bits": 3.0,
        "seconds": 1.25,
    }
    for encoder, directions, bits in (("linear", None, -0.001), ("mlp", None, 1.0), ("mlp", 6, 2.5))
]
CHOSEN = {name: TRIED[2][name] for name in ("encoder", "pca_components", "scaling", "steps", "noise")}


def page(**parts: Any) -> Report:
    return Report(title="Codes", codes=CODES, **parts)


@pytest.mark.parametrize(
    ("fitted", "held_out", "text"),
    [
        (2.0, 0.0, "These pairs tell nothing."),
        (0.1, -0.3, "share -0.30 bits"),
        (0.1, -0.001, "share 0.00 bits"),
        (None, -0.3, "These pairs tell nothing."),
        (4.0, 1.9, "In part."),
        (4.0, 2.1, "Supported."),
        (2.0, 2.3, "Supported."),
        (None, 2.0, "Supported."),
        (None, None, "Not checked."),
    ],
)
def test_a_reader_is_told_first_what_held_out_pairs_say(
    fitted: float | None, held_out: float | None, text: str
) -> None:
    said = notice(page(judgement=judge(held_out, 0.0, fitted)))
    assert text in said
    assert ("grave" in said) == (held_out is not None and held_out <= 0)
    assert ("good" in said) == ("Supported" in text)
    assert notice(page()) == ""


def test_half_of_the_bits_may_be_missing_from_other_pairs() -> None:
    assert learnt_by_heart(4.0, 1.99)
    assert not learnt_by_heart(4.0, 2.0)
    assert not learnt_by_heart(0.0, 0.0)


def test_the_section_has_bits_settings_and_attempts() -> None:
    section = trust(page(held_out_bits=2.5, fitted_bits=3.0, held_out_pairs=64, chosen=CHOSEN, tried=TRIED))
    assert section is not None
    assert section.title == "How far to trust this fit"
    assert "64 pairs cannot show more than 6.0" in section.body
    for name, value in {"held-out pairs": "2.50", "as many fitted pairs": "3.00", "directions kept": "6"}.items():
        assert f'<th scope="row">{name}</th><td>{value}</td>' in section.body
    tried = section.body[section.body.index("What was tried") :]
    assert "scaling" not in tried  # the same in all attempts
    assert '<tr><th scope="row">linear</th><td>all</td><td>0.00</td><td>3.00</td><td>1.2</td></tr>' in tried
    assert '<tr class="chosen"><th scope="row">mlp</th><td>6</td><td>2.50</td>' in tried
    assert tried.count('class="chosen"') == 1


def test_without_held_out_pairs_the_section_says_so() -> None:
    section = trust(page(chosen=CHOSEN, tried=[{"encoder": "mlp", "seconds": 1.0}]))
    assert section is not None
    assert "No pairs were held out" in section.body
    assert "What was tried" not in section.body
    assert trust(page()) is None


def test_attempts_without_scores_can_be_shown() -> None:
    section = trust(page(chosen=CHOSEN, tried=[{"encoder": "linear"}, {"encoder": "<mlp>"}]))
    assert section is not None
    assert "&lt;mlp&gt;</th><td>–</td><td>–</td><td>–</td>" in section.body


def test_both_losses_are_drawn_if_both_were_watched() -> None:
    curve = [{"step": step, "loss": 2.0} for step in range(1, 4)]
    (training,) = [one for one in make_sections(page(curve=curve)) if one.name == "training"]
    assert len(training.figures["loss"][0]["data"]) == 1
    assert "held-out" not in training.body
    curve[1] |= {"held_out_loss": 1.5}
    (training,) = [one for one in make_sections(page(curve=curve)) if one.name == "training"]
    traces = training.figures["loss"][0]["data"]
    assert [trace["y"] for trace in traces] == [[2.0, 2.0, 2.0], [None, 1.5, None]]
    assert "Compare how the two move, not how high they are" in training.body


def test_windows_of_a_page_stay_within_their_trials() -> None:
    x = np.random.default_rng(0).normal(size=(60, 2))
    trials = np.repeat([0, 1, 2], 20)
    model = ContrastiveICA(2, lag=3, window=3, encoder="linear", max_steps=2, random_state=0)
    model.fit(x, trials=trials)
    codes = model.transform(x, trials=trials)
    assert not np.allclose(codes, model.transform(x))
    assert np.allclose(report_of_fit(model, x, trials=trials).codes, codes)
    line = make_pipeline(StandardScaler(), "passthrough", model).fit(x)
    scaled = line[0].transform(x)
    assert np.allclose(report_of_fit(line, x, trials=trials).codes, line[-1].transform(scaled, trials=trials))
    assert np.allclose(report_of_fit(line, x).codes, line.transform(x))
