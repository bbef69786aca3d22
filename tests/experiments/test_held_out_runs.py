"""Runs that hold something out from training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, final

import torch
from kitti_files import squares

from identica.experiments import Row, RunStore, execute
from identica.learners import Contrastive
from identica.models import Model
from identica.report import make_table, report_of_run, write_page
from identica.sources import MaskPairs, SourceSettings
from identica.spaces import Real


@final
@dataclass(frozen=True)
class Squares(SourceSettings):
    """Squares that move to the right; the last two of five sequences are never trained on."""

    observes: ClassVar[Literal["vectors", "images"]] = "images"

    def build(self, seed: int, device: str = "cpu") -> MaskPairs:
        found = squares([20, 30, 10, 12, 9])
        factors = found.factors.clone()
        factors[:, 2] += torch.arange(len(factors)) % 7  # squares are all of one area
        return MaskPairs(replace(found, factors=factors), 2, torch.tensor([0, 1, 2]))


ROW = Row("s-1", Squares(), Contrastive(Model(Real(4), "laplace")), ("mcc_spearman",))


def test_scores_of_what_was_held_out_stand_beside_those_of_all(runs: Path) -> None:
    run = ROW.run(0, steps=2)
    run = replace(run, recipe=replace(run.recipe, training=replace(run.recipe.training, batch_size=8)))
    store = RunStore(runs)
    record = execute(run, store, device="cpu")
    arrays = store.arrays(run.name)
    assert len(arrays["codes"]) == 20 + 30 + 10 + 12 + 9
    assert len(arrays["held_out_codes"]) == len(arrays["held_out_factors"]) == 12 + 9
    assert set(arrays["held_out_factors"][:, 0]) == {6.5, 7.5}  # rows of the last two
    assert arrays["pairs"].shape == (24, 2, 1, 64, 64)
    for kind in ("scores", "held_out_scores"):
        found = record[kind]["mcc_spearman"]
        assert len(found["per_factor"]) == len(found["assignment"]) == 3
    assert record["scores"] != record["held_out_scores"]
    more = execute(replace(run, scores=("mcc_spearman", "r2")), store, device="cpu")
    assert set(more["scores"]) == set(more["held_out_scores"]) == {"mcc_spearman", "r2"}

    text = make_table([more], rows={"s-1": ROW})
    assert f"{more['held_out_scores']['mcc_spearman']['value']:.2f}" in text
    assert "held out, ours" in text
    codes = " ".join(str(code + 1) for code in more["scores"]["mcc_spearman"]["assignment"])
    assert text.splitlines()[-1].startswith("s-1")
    assert text.splitlines()[-1].endswith(codes)

    last = record["curve"][-1]
    assert last["held_out_bits"] != last["fitted_bits"]
    assert max(last["held_out_bits"], last["fitted_bits"]) < 9  # log₂ of 512 pairs

    report = report_of_run(more, arrays)
    write_page(report, runs / "page.html")
    assert "Bits over the steps of training" in (runs / "page.html").read_text(encoding="utf-8")
    assert report.images is not None
    assert report.image_pairs is not None
    assert [line["factor"] for line in report.matched] == ["y", "x", "area"]
    assert ("MCC (ranks), held out", f"{more['held_out_scores']['mcc_spearman']['value']:.2f} %") in report.summary
