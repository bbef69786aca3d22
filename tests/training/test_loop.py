from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import Adam

from identica._checks import InputError
from identica.encoders import MLP, BoxHead, Encoder
from identica.laws import Conditional, Laplace, Marginal, Uniform
from identica.learners import ContrastiveLearner, Learner, SupervisedLearner
from identica.models import Model
from identica.objectives import InfoNCE
from identica.recipes import ContrastiveSettings
from identica.similarities import PowerDistance
from identica.sources import ArrayPairs, Layers, SyntheticPairs
from identica.spaces import Box
from identica.training import DivergenceError, Muon, Schedule, resolve_device, train

PLAIN = ContrastiveSettings(
    positive_in_denominator=True, anchor_weight=0.0, in_batch="anchors", backward=False, quadratic_until=0.0
)


class Setup:
    """A small training run, made anew from the same seeds each time."""

    def __init__(
        self, supervised: bool = False, settings: ContrastiveSettings = PLAIN, conditional: str = "laplace"
    ) -> None:
        generator = torch.Generator().manual_seed(0)
        box = Box(3)
        mixing = Layers().draw(3, generator=generator, draws=50)
        self.source = SyntheticPairs(Marginal(box, Uniform()), Conditional(box, Laplace(0.1)), mixing)
        self.encoder = Encoder(MLP(3, 3, [16, 16], generator=generator), BoxHead(3))
        model = Model(box, conditional)
        self.learner: Learner = (
            SupervisedLearner(self.encoder) if supervised else ContrastiveLearner(self.encoder, model, settings)
        )
        matrices = [p for p in self.learner.parameters() if p.ndim == 2]
        vectors = [p for p in self.learner.parameters() if p.ndim < 2]
        self.optimizers = [Muon(matrices), Adam([{"params": vectors, "lr": 1e-2, "scheduled": False}])]
        self.generator = torch.Generator().manual_seed(1)

    def train(self, steps: int = 30, **options: object) -> list[dict[str, float]]:
        schedule = Schedule(steps, warmup=5, cosine=True)
        options = {"device": "cpu", "generator": self.generator, "batch_size": 64} | options
        return train(self.learner, self.source, self.optimizers, schedule, **options).curve  # type: ignore[arg-type]

    def loss(self, progress: float = 0.0) -> float:
        batch = self.learner.batch(self.source, 64, torch.Generator().manual_seed(3))
        return float(self.learner(*batch, progress=progress).detach())

    @property
    def weights(self) -> list[torch.Tensor]:
        return list(self.learner.state_dict().values())


def size(module: nn.Module) -> dict[str, float]:
    return {"size": float(sum(p.abs().sum() for p in module.parameters()))}


@pytest.mark.parametrize("supervised", [False, True])
def test_training_lowers_the_loss(supervised: bool) -> None:
    setup = Setup(supervised)
    curve = setup.train(200, evaluate=size, evaluate_every=10)
    assert [point["step"] for point in curve] == list(range(10, 201, 10))
    assert curve[-1]["loss"] < 0.8 * curve[0]["loss"]


def test_the_same_seed_trains_to_the_same_bits() -> None:
    one, two = Setup(), Setup()
    assert one.train(evaluate=size) == two.train(evaluate=size)
    assert all(torch.equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))


def test_a_run_that_was_cut_off_ends_as_one_that_was_not(tmp_path: Path) -> None:
    class CutError(Exception):
        pass

    def cut(step: int, *_: object) -> None:
        if step == 17:
            raise CutError

    whole, broken, resumed = Setup(), Setup(), Setup()
    checkpoint = tmp_path / "checkpoint.safetensors"
    expected = whole.train(evaluate=size, evaluate_every=5)
    with pytest.raises(CutError):
        broken.train(evaluate=size, evaluate_every=5, checkpoint=checkpoint, checkpoint_seconds=0, report=cut)
    steps: list[int] = []
    resumed.generator.manual_seed(999)  # what counts is in the file
    curve = resumed.train(
        evaluate=size, evaluate_every=5, checkpoint=checkpoint, report=lambda step, *_: steps.append(step)
    )
    assert steps[0] == 17
    assert curve == expected
    assert all(torch.equal(a, b) for a, b in zip(resumed.weights, whole.weights, strict=True))
    assert list(tmp_path.iterdir()) == [checkpoint]


def test_unscheduled_groups_keep_their_rate_and_others_follow_the_schedule() -> None:
    setup, rates = Setup(), []

    def note(*_: object) -> None:
        rates.append([optimizer.param_groups[0]["lr"] for optimizer in setup.optimizers])

    setup.train(20, report=note)
    assert {rate for _, rate in rates} == {1e-2}
    assert rates[0][0] == pytest.approx(0.02 / 5)
    assert rates[-1][0] < 0.001


def test_schedule_by_hand() -> None:
    schedule = Schedule(100, warmup=10, cosine=True)
    assert schedule.factor(0) == pytest.approx(0.1)
    assert schedule.factor(50) == pytest.approx(0.5)
    assert Schedule(100).factor(77) == 1.0


def test_divergence_ends_early_with_a_clear_message() -> None:
    setup = Setup()
    with torch.no_grad():
        setup.encoder.head.scale.raw.fill_(float("nan"))
    with pytest.raises(DivergenceError, match="the loss became nan at step 1 of 30"):
        setup.train()


def test_mixed_precision_trains() -> None:
    setup = Setup()
    curve = setup.train(20, precision="bf16-mixed", evaluate=size, evaluate_every=10)
    assert all(parameter.dtype == torch.float32 for parameter in setup.encoder.parameters())
    assert torch.isfinite(torch.tensor([point["loss"] for point in curve])).all()


def test_devices() -> None:
    assert resolve_device("auto") in ("cpu", "cuda", "mps")
    assert resolve_device("cpu") == "cpu"
    with pytest.raises(InputError, match=r"device 'tpu' is not available here: allowed: auto, .*cpu"):
        resolve_device("tpu")


def test_a_first_objective_takes_its_part_of_the_steps() -> None:
    late = replace(PLAIN, quadratic_until=0.5)
    lowered, cubic = (Setup(settings=settings, conditional="gennorm(beta=3)") for settings in (late, PLAIN))
    square = Setup(conditional="normal")
    assert lowered.loss(0.49) == square.loss(0.0)
    assert lowered.loss(0.5) == cubic.loss(0.5) != lowered.loss(0.49)
    assert cubic.loss(0.0) == cubic.loss(0.5)


def test_backwards_is_the_loss_of_swapped_pairs() -> None:
    setup = Setup(settings=replace(PLAIN, backward=True))
    pairs = setup.source.pairs(64, torch.Generator().manual_seed(3))
    first, second = (setup.encoder(half) for half in pairs)
    swapped = InfoNCE(PowerDistance(1.0))(second, first)
    assert setup.loss() == pytest.approx(float(swapped.detach()), rel=1e-5)
    assert setup.loss() != pytest.approx(Setup().loss(), rel=1e-5)


def test_batches_are_of_two_at_least() -> None:
    with pytest.raises(InputError, match="batch_size must be at least 2, got 1"):
        Setup().train(batch_size=1)


def test_labels_need_a_source_that_has_them() -> None:
    setup = Setup(supervised=True)
    pairs = ArrayPairs(torch.zeros(4, 3), [[0, 1]])
    with pytest.raises(InputError, match="source must know its factors to train with labels, got ArrayPairs"):
        setup.learner.batch(pairs, 2, setup.generator)
