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
from identica.objectives import InfoNCE, PowerDistance
from identica.optimizers import Muon
from identica.processes import LeakyReLUMixing, SyntheticProcess
from identica.spaces import Box
from identica.training import Contrastive, DivergenceError, Schedule, Supervised, resolve_device, train


class Setup:
    """A small training run, made anew from the same seeds each time."""

    def __init__(self, supervised: bool = False) -> None:
        generator = torch.Generator().manual_seed(0)
        box = Box(3)
        mixing = LeakyReLUMixing.draw(3, generator=generator, draws=50)
        process = SyntheticProcess(Marginal(box, Uniform()), Conditional(box, Laplace(0.1)), mixing)
        self.encoder = Encoder(MLP(3, 3, [16, 16], generator=generator), BoxHead(3))
        self.task = Supervised(process, 64) if supervised else Contrastive(process, InfoNCE(PowerDistance(1.0)), 64)
        matrices = [p for p in self.encoder.parameters() if p.ndim == 2]
        vectors = [p for p in self.encoder.parameters() if p.ndim < 2]
        self.optimizers = [Muon(matrices), Adam([{"params": vectors, "lr": 1e-2, "scheduled": False}])]
        self.generator = torch.Generator().manual_seed(1)

    def train(self, steps: int = 30, **options: object) -> list[dict[str, float]]:
        schedule = Schedule(steps, warmup=5, cosine=True)
        options = {"device": "cpu", "generator": self.generator} | options
        return train(self.encoder, self.task, self.optimizers, schedule, **options).curve  # type: ignore[arg-type]

    @property
    def weights(self) -> list[torch.Tensor]:
        return list(self.encoder.state_dict().values())


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
    setup = Setup()
    assert isinstance(setup.task, Contrastive)
    first = InfoNCE(PowerDistance(2.0))
    task = replace(setup.task, first_objective=first, first_until=0.5)

    def loss(chosen: Contrastive, progress: float) -> float:
        return float(chosen.loss(setup.encoder, torch.Generator().manual_seed(3), progress).detach())

    assert loss(task, 0.49) == loss(replace(setup.task, objective=first), 0.0)
    assert loss(task, 0.5) == loss(setup.task, 0.5) != loss(task, 0.49)


def test_backwards_is_the_loss_of_swapped_pairs() -> None:
    setup = Setup()
    assert isinstance(setup.task, Contrastive)
    generators = [torch.Generator().manual_seed(3) for _ in range(2)]
    swapped = replace(setup.task, backward=True).loss(setup.encoder, generators[0])
    first, second = (setup.encoder(half) for half in setup.task.process.pairs(64, generators[1]))
    assert torch.allclose(swapped, setup.task.objective(second, first))
