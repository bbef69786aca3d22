"""Strangers in the house: an image source and a VAE that no module knows go through all of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import pytest
import torch
from torch import Generator, Tensor, nn

from identica.encoders import EncoderSettings
from identica.experiments import LocalEngine, Row, RunStore, execute, plan
from identica.learners import Learner, LearnerSettings
from identica.models import Ambiguity
from identica.recipes import Recipe, TrainingSettings
from identica.report import make_table, report_of_run, write_page
from identica.report.tables import summarise
from identica.sources import Factor, LabelledSource, Source, SourceSettings
from identica.spaces import Real, Space


@final
@dataclass(frozen=True)
class Blobs(SourceSettings):
    """Pictures of one bright blob, whose place and brightness are the factors."""

    size: int = 16

    def __str__(self) -> str:
        return f"blobs of {self.size} pixels"

    def build(self, seed: int, device: str = "cpu") -> BlobPairs:
        return BlobPairs(self.size)


class BlobPairs(LabelledSource):
    factors = (Factor("x"), Factor("y"), Factor("brightness", "ordinal"))

    def __init__(self, size: int) -> None:
        self.shape = (1, size, size)

    def with_factors(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        factors = torch.rand(count, 3, generator=generator)
        return factors, self.draw(factors)

    def sample(self, count: int, generator: Generator) -> Tensor:
        return self.with_factors(count, generator)[1]

    def pairs(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        factors, first = self.with_factors(count, generator)
        moved = factors + 0.05 * torch.randn(count, 3, generator=generator)
        return first, self.draw(moved.clamp(0, 1))

    def draw(self, factors: Tensor) -> Tensor:
        axis = torch.linspace(0, 1, self.shape[1])
        x, y, brightness = factors[:, :, None, None].unbind(dim=1)
        distance = (axis[None, None, :] - x).square() + (axis[None, :, None] - y).square()
        return ((0.5 + brightness / 2) * torch.exp(-distance / 0.02))[:, None]


@final
@dataclass(frozen=True)
class TinyVAE(LearnerSettings):
    """An encoder and a decoder."""

    codes: int = 4
    beta: float = 1e-3

    def __str__(self) -> str:
        return f"tiny VAE, β = {self.beta:g}"

    @property
    def ambiguity(self) -> Ambiguity:
        return "affine map"

    @property
    def code_space(self) -> Space:
        return Real(self.codes)

    def recipe(self, protocol: str) -> Recipe:
        training = TrainingSettings(40, 64, "adam", 3e-3, 3e-3, 3e-3, True, 0, False, 1)
        return Recipe(protocol, training, EncoderSettings((32,), 0.01, "torch", "no", 1.0, False, False))

    def build(self, recipe: Recipe, sample: Tensor, generator: Generator) -> TinyVAELearner:
        torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
        return TinyVAELearner(sample.shape[1:].numel(), recipe.encoder.widths[0], self.codes, self.beta)


class TinyVAELearner(Learner):
    def __init__(self, pixels: int, width: int, codes: int, beta: float) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, 2 * codes))
        self.decoder = nn.Sequential(nn.Linear(codes, width), nn.ReLU(), nn.Linear(width, pixels))
        self.beta = beta

    def batch(self, source: Source, count: int, generator: Generator) -> tuple[Tensor, ...]:
        observations, _ = source.pairs(count, generator)
        return observations, torch.randn(count, self.decoder[0].in_features, generator=generator)

    def forward(self, *batch: Tensor, progress: float = 0.0) -> Tensor:
        observations, noise = batch
        mean, log_variance = self.encoder(observations).chunk(2, dim=1)
        drawn = mean + (log_variance / 2).exp() * noise
        error = (self.decoder(drawn) - observations.flatten(1)).square().mean()
        divergence = (mean.square() + log_variance.exp() - log_variance - 1).mean()
        return error + self.beta * divergence

    def codes(self, observations: Tensor) -> Tensor:
        mean: Tensor = self.encoder(observations).chunk(2, dim=1)[0]
        return mean


ROW = Row("blob-1", Blobs(), TinyVAE(), scores=("mcc_spearman", "r2"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    store = RunStore(tmp_path_factory.mktemp("blobs"))
    for outcome in LocalEngine(1, "cpu").compute(plan([ROW], [0, 1]), store):
        assert outcome.error is None
    return store


def test_the_runner_and_the_store_take_it(store: RunStore) -> None:
    for record in store.records():
        assert set(record["scores"]) == {"mcc_spearman", "r2"}
        assert record["identity"] == {}  # pixels are not scored themselves
        assert (record["source"], record["learner"]) == ("blobs of 16 pixels", "tiny VAE, β = 0.001")
        assert record["settings"]["learner"] == {"type": "TinyVAE"}
        assert record["factors"] == ["x", "y", "brightness"]
        assert record["scores"]["r2"]["value"] > record["scores"]["r2"]["chance"]
    arrays = store.arrays(store.names()[0])
    assert arrays["observations"].shape[1:] == (1, 16, 16)
    assert arrays["codes"].shape == (10_000, 4)
    assert len(arrays["observations"]) == 1024, "those are shown, and scored along the way"


def test_both_networks_learn(store: RunStore) -> None:
    before = TinyVAE().build(TinyVAE().recipe("fast"), torch.zeros(1, 1, 16, 16), Generator().manual_seed(0))
    after = store.weights(store.names()[0])
    assert set(after) == set(before.state_dict())
    record = next(iter(store.records()))
    assert record["curve"][-1]["loss"] < record["curve"][0]["loss"]


def test_the_table_names_its_row_and_shows_its_scores(store: RunStore) -> None:
    (line,) = summarise(store.records(), {"blob-1": ROW})
    assert (line.row, line.metric, line.other_metric) == ("blob-1", "mcc_spearman", "r2")
    assert line.unsupervised is not None
    assert line.unsupervised.seeds == 2
    assert line.identity is None
    for style in ("text", "markdown", "latex"):
        assert "blobs of 16 pixels" in make_table(store.records(), style, {"blob-1": ROW})
    assert json.loads(make_table(store.records(), "json"))[0]["row"] == "own"


def test_the_report_shows_its_pictures(store: RunStore, tmp_path: Path) -> None:
    name = store.names()[0]
    record = store.load(name)
    assert record is not None
    report = report_of_run(record, store.arrays(name))
    assert report.images is not None
    write_page(report, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "blobs of 16 pixels" in page
    assert "brightness" in page
    assert page.count("data:image/png") >= 4


def test_scores_know_the_kinds_of_factors(store: RunStore) -> None:
    names = ("beta_vae", "factor_vae", "mig", "dci", "modularity", "sap", "mcc")
    run = replace(plan([ROW], [1])[0], scores=names)
    record = execute(run, store, device="cpu")
    assert record["kinds"] == ["continuous", "continuous", "ordinal"]
    assert all(0 <= record["scores"][name]["value"] <= 100 for name in names)
    assert record["scores"]["dci"]["per_factor"] == []
    assert len(record["scores"]["dci"]["per_code"]) == 4
    assert "MIG" in [title for title, _ in report_of_run(record, store.arrays(run.name)).summary]


def test_a_score_that_is_asked_for_later_comes_from_the_stored_codes(store: RunStore) -> None:
    run = replace(plan([ROW], [0])[0], scores=("r2", "mcc"))
    stamp = (store.root / run.name / "learner.safetensors").stat().st_mtime_ns
    record = execute(run, store, device="cpu")
    assert set(record["scores"]) == {"mcc_spearman", "r2", "mcc"}
    assert (store.root / run.name / "learner.safetensors").stat().st_mtime_ns == stamp
