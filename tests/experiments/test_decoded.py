"""What a decoder draws along each code: kept with the run, and shown on its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from test_made_up import Blobs

from identica._checks import InputError
from identica.assembly import assemble
from identica.experiments import Row, RunStore, execute, plan
from identica.learners import BetaVAE, VAELearner
from identica.report import Report, moved_codes, report_of_run, write_page

ROW = Row("drawn", Blobs(), BetaVAE(3), scores=("mcc_spearman",))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunStore, str]:
    store = RunStore(tmp_path_factory.mktemp("drawn"))
    run = plan([ROW], [0], steps=40)[0]
    execute(run, store, device="cpu")
    return store, run.name


def test_a_run_keeps_what_its_decoder_draws(finished: tuple[RunStore, str]) -> None:
    store, name = finished
    arrays = store.arrays(name)
    assert arrays["decoded"].shape == (3, 7, 1, 16, 16)
    run = plan([ROW], [0], steps=40)[0]
    learner = assemble(run.learner, run.recipe, run.source.build(0), 0)
    assert isinstance(learner, VAELearner)
    learner.load_state_dict(store.weights(name))
    learner.eval()
    moved = torch.from_numpy(moved_codes(arrays["codes"])).float()
    with torch.no_grad():
        np.testing.assert_allclose(arrays["decoded"][2], learner.decode(moved[2]).numpy(), atol=1e-5)


def test_its_page_shows_them(finished: tuple[RunStore, str], tmp_path: Path) -> None:
    store, name = finished
    record, arrays = store.load(name), store.arrays(name)
    assert record is not None
    pages = []
    for shown in (arrays, {key: value for key, value in arrays.items() if key != "decoded"}):
        write_page(report_of_run(record, shown), tmp_path / "page.html")
        pages.append((tmp_path / "page.html").read_text(encoding="utf-8"))
    with_decoder, without = pages
    assert "what the decoder draws" in with_decoder
    assert "what the decoder draws" not in without
    assert with_decoder.count("data:image/png") == without.count("data:image/png") + 3 * 7


def test_drawings_of_other_codes_are_refused() -> None:
    with pytest.raises(InputError, match=r"decoded must have shape \[2, steps"):
        Report(title="t", codes=np.zeros((5, 2)), decoded=np.zeros((3, 7, 1, 16, 16)))
