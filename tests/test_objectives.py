from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from identica import _streaming
from identica._checks import InputError
from identica._streaming import mean_log_partition
from identica.objectives import AlignmentUniformity, InfoNCE, mean_squared_error
from identica.similarities import DotProduct, PowerDistance, Similarity

SIMILARITIES: list[Similarity] = [DotProduct(), *(PowerDistance(alpha) for alpha in (1.0, 1.5, 2.0, 3.0, 4.0))]


def plain_logits(similarity: Similarity, first: Tensor, second: Tensor) -> Tensor:
    """The formula as the paper writes it, with every pair in memory."""
    if isinstance(similarity, DotProduct):
        return first @ second.T
    assert isinstance(similarity, PowerDistance)
    return -(first[:, None] - second[None]).abs().pow(similarity.alpha).sum(dim=-1)


def points(count: int, dim: int = 4, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, dim, generator=generator, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("similarity", SIMILARITIES, ids=str)
class TestInfoNCE:
    def test_both_halves_ask_among_all_codes_but_their_own_pair(self, similarity: Similarity) -> None:
        anchors, positives = points(7), points(7, seed=1)
        everything = torch.cat([anchors, positives])
        logits = plain_logits(similarity, everything, everything) / 0.5
        logits = logits.masked_fill(torch.eye(14, dtype=torch.bool), -math.inf)
        expected = cross_entropy(logits, torch.arange(14).roll(7))
        loss = InfoNCE(similarity, 0.5, in_batch="both")(anchors, positives)
        torch.testing.assert_close(loss, expected)
        for found, wanted in zip(
            torch.autograd.grad(loss, (anchors, positives)),
            torch.autograd.grad(expected, (anchors, positives)),
            strict=True,
        ):
            torch.testing.assert_close(found, wanted)

    @pytest.mark.parametrize("temperature", [1.0, 0.3])
    @pytest.mark.parametrize("in_batch", ["anchors", "positives"])
    def test_in_batch_loss_is_a_cross_entropy(self, similarity: Similarity, temperature: float, in_batch: str) -> None:
        anchors, positives = points(7), points(7, seed=1)
        logits = plain_logits(similarity, anchors, anchors if in_batch == "anchors" else positives)
        positive = plain_logits(similarity, anchors, positives).diagonal()
        logits = logits.diagonal_scatter(positive)  # the positive takes the place of the point itself
        expected = cross_entropy(logits / temperature, torch.arange(7))
        loss = InfoNCE(similarity, temperature, in_batch=in_batch)(anchors, positives)  # type: ignore[arg-type]
        assert_same_value_and_gradient(loss, expected, (anchors, positives))

    def test_separate_negatives_are_a_cross_entropy(self, similarity: Similarity) -> None:
        anchors, positives, negatives = points(5), points(5, seed=1), points(9, seed=2)
        positive = plain_logits(similarity, anchors, positives).diagonal()[:, None]
        logits = torch.cat([positive, plain_logits(similarity, anchors, negatives)], dim=1)
        expected = cross_entropy(logits, torch.zeros(5, dtype=torch.long))
        loss = InfoNCE(similarity)(anchors, positives, negatives)
        assert_same_value_and_gradient(loss, expected, (anchors, positives, negatives))

    def test_simclr_form_leaves_the_positive_out(self, similarity: Similarity) -> None:
        anchors, positives, negatives = points(5), points(5, seed=1), points(9, seed=2)
        positive = plain_logits(similarity, anchors, positives).diagonal()
        expected = (plain_logits(similarity, anchors, negatives).logsumexp(dim=1) - positive).mean()
        loss = InfoNCE(similarity, positive_in_denominator=False)(anchors, positives, negatives)
        assert_same_value_and_gradient(loss, expected, (anchors, positives, negatives))

    @pytest.mark.parametrize("with_positive", [True, False])
    def test_the_anchor_can_be_one_of_its_negatives(self, similarity: Similarity, with_positive: bool) -> None:
        anchors, positives, negatives = points(5), points(5, seed=1), points(9, seed=2)
        positive = plain_logits(similarity, anchors, positives).diagonal()[:, None]
        own = plain_logits(similarity, anchors, anchors).diagonal()[:, None] + 0.7 * math.log(0.3)
        terms = [own, plain_logits(similarity, anchors, negatives), *([positive] if with_positive else [])]
        expected = (torch.cat(terms, dim=1) / 0.7).logsumexp(dim=1).mean() - positive.mean() / 0.7
        objective = InfoNCE(similarity, 0.7, positive_in_denominator=with_positive, anchor_weight=0.3)
        loss = objective(anchors, positives, negatives)
        assert_same_value_and_gradient(loss, expected, (anchors, positives, negatives))

    def test_parts_sum_to_the_loss(self, similarity: Similarity) -> None:
        anchors, positives = points(6), points(6, seed=1)
        alignment, uniformity = InfoNCE(similarity).parts(anchors, positives)
        assert torch.allclose(alignment, -plain_logits(similarity, anchors, positives).diagonal().mean())
        assert torch.allclose(alignment + uniformity, InfoNCE(similarity)(anchors, positives))

    def test_gradcheck(self, similarity: Similarity) -> None:
        anchors, candidates = points(4, 3), points(5, 3, seed=1)
        extra = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(
            lambda u, c, e: 2 * mean_log_partition(similarity, u, c, temperature=0.7, extra_logits=e, excluded=(1,)),
            (anchors, candidates, extra),
        )

    def test_far_candidates_weigh_nothing(self, similarity: Similarity) -> None:
        far = torch.tensor([[0.0, 0], [9, 0], [9, 0.1], [40, 0]], dtype=torch.float64, requires_grad=True)
        value = mean_log_partition(similarity, far, far.detach(), excluded=(0,))
        expected = plain_logits(similarity, far, far.detach()).fill_diagonal_(-math.inf).logsumexp(dim=1).mean()
        (ours,), (theirs,) = (torch.autograd.grad(one, far) for one in (value, expected))
        assert torch.allclose(value, expected)
        assert torch.allclose(ours, theirs, rtol=1e-5)

    def test_values_without_gradients_are_the_same(self, similarity: Similarity) -> None:
        anchors, candidates = points(6), points(9, seed=1)
        value = mean_log_partition(similarity, anchors, candidates)
        assert mean_log_partition(similarity, anchors.detach(), candidates.detach()) == value

    def test_blocks_do_not_change_the_result(self, similarity: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
        anchors, positives = points(23), points(23, seed=1)
        whole = InfoNCE(similarity)(anchors, positives)
        gradients = torch.autograd.grad(whole, (anchors, positives))
        monkeypatch.setattr(_streaming, "_BLOCK_ENTRIES", 100)
        monkeypatch.setattr(_streaming, "_LEAST_ROWS", 1)
        blocked = InfoNCE(similarity)(anchors, positives)
        assert_same_value_and_gradient(blocked, whole, (anchors, positives), gradients)

    def test_huge_logits_and_identical_points_stay_finite(self, similarity: Similarity) -> None:
        power = similarity.alpha if isinstance(similarity, PowerDistance) else 2.0
        far = torch.full((4, 1), 1e4 ** (1 / power))
        spread = (far * torch.tensor([[0.0], [1.0], [-1.0], [1.0]])).requires_grad_()
        same = torch.full((4, 3), 0.7, requires_grad=True)
        for codes in (spread, same):
            for options in ({}, {"positive_in_denominator": False}, {"anchor_weight": 0.02}):
                objective = InfoNCE(similarity, **options)
                loss = objective(codes, codes.detach().flip(0))
                (gradient,) = torch.autograd.grad(loss, codes)
                assert torch.isfinite(loss)
                assert torch.isfinite(gradient).all()


def assert_same_value_and_gradient(
    loss: Tensor, expected: Tensor, inputs: tuple[Tensor, ...], gradients: tuple[Tensor, ...] | None = None
) -> None:
    assert torch.allclose(loss, expected, rtol=1e-9)
    wanted = torch.autograd.grad(expected, inputs) if gradients is None else gradients
    for ours, theirs in zip(torch.autograd.grad(loss, inputs), wanted, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(
    ("similarity", "dim"), [(DotProduct(), 10), (PowerDistance(1.0), 10), (PowerDistance(3.0), 20)], ids=str
)
def test_compiled_and_eager_blocks_agree(similarity: Similarity, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not _streaming._can_compile("cpu"):
        pytest.skip("needs a C++ compiler")
    generator = torch.Generator().manual_seed(0)
    anchors, positives = (torch.rand(70, dim, generator=generator, requires_grad=True) for _ in range(2))
    objective = InfoNCE(similarity)
    eager = objective(anchors, positives)
    gradients = torch.autograd.grad(eager, (anchors, positives))
    monkeypatch.setattr(_streaming, "_COMPILE_FROM_PAIRS", 1)
    compiled = objective(anchors, positives)
    assert torch.allclose(compiled, eager, rtol=1e-5)
    for ours, theirs in zip(torch.autograd.grad(compiled, (anchors, positives)), gradients, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-7)


def test_a_compiler_that_does_not_work_costs_speed_only(tmp_path: Path) -> None:
    script = """
import warnings, torch
from identica.objectives import InfoNCE
from identica.similarities import PowerDistance
codes = torch.rand(600, 3, generator=torch.Generator().manual_seed(0))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    loss = float(InfoNCE(PowerDistance(1.0))(codes, codes))
assert any("compiling the loss failed" in str(warning.message) for warning in caught), caught
print(loss)
"""
    environment = os.environ | {
        "IDENTICA_COMPILE": "1",
        "CXX": shutil.which("false") or "",
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    codes = torch.rand(600, 3, generator=torch.Generator().manual_seed(0))
    assert float(done.stdout) == pytest.approx(float(InfoNCE(PowerDistance(1.0))(codes, codes)), rel=1e-5)


def test_sixteen_bit_codes_are_summed_in_32(generator: torch.Generator) -> None:
    codes = torch.randn(50, 4, generator=generator)
    short = InfoNCE(PowerDistance(1.0))(codes.bfloat16(), codes.bfloat16())
    assert short.dtype == torch.float32
    assert float(short) == pytest.approx(float(InfoNCE(PowerDistance(1.0))(codes, codes)), abs=0.02)


def test_mean_squared_error() -> None:
    assert float(mean_squared_error(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 4.0]]))) == 2.5
    with pytest.raises(InputError, match=r"one shape, got \[1, 2\] and \[1, 3\]"):
        mean_squared_error(torch.zeros(1, 2), torch.zeros(1, 3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InfoNCE(DotProduct(), temperature=0), "temperature must be a finite number above 0, got 0"),
        (lambda: InfoNCE(DotProduct(), in_batch="all"), "unknown in_batch 'all'"),  # type: ignore[arg-type]
        (lambda: InfoNCE(DotProduct())(torch.zeros(3, 2), torch.zeros(3, 4)), "got [3, 2] and [3, 4]"),
        (lambda: InfoNCE(DotProduct())(torch.zeros(1, 2), torch.zeros(1, 2)), "batch of at least 2, got 1"),
        (
            lambda: InfoNCE(DotProduct())(torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(3, 5)),
            "negatives must have shape [count, 2], got [3, 5]",
        ),
        (
            lambda: InfoNCE(DotProduct())(torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(0, 2)),
            "negatives must hold at least one row",
        ),
    ],
)
def test_bad_objectives_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert message in str(caught.value)


def test_a_batch_of_identical_points_costs_the_log_of_its_size() -> None:
    zeros = torch.zeros(8, 3)
    assert float(InfoNCE(PowerDistance(1.0))(zeros, zeros)) == pytest.approx(math.log(8))


@pytest.mark.parametrize("p", [1, 2])
def test_alignment_and_uniformity_by_hand(p: int, generator: torch.Generator) -> None:
    anchors, positives = (torch.randn(12, 3, generator=generator) for _ in range(2))
    apart = (anchors[:, None] - anchors[None]).abs().pow(p).sum(dim=2)
    uniformity = torch.stack([(-apart[i]).exp().mean().log() for i in range(12)]).mean()
    alignment = (anchors - positives).abs().pow(p).sum(dim=1).mean()
    found = AlignmentUniformity(0.9, p).parts(anchors, positives)
    assert torch.allclose(found.alignment, 0.1 * alignment, rtol=1e-5)
    assert torch.allclose(found.uniformity, 0.9 * uniformity, rtol=1e-5)
    assert AlignmentUniformity(0.9, p)(anchors, positives) == found.alignment + found.uniformity


def test_equal_weights_are_half_of_infonce_with_the_anchor_for_its_positive(generator: torch.Generator) -> None:
    anchors, positives = (torch.randn(20, 3, generator=generator) for _ in range(2))
    whole = InfoNCE(PowerDistance(1.0), positive_in_denominator=False, anchor_weight=1.0)(anchors, positives)
    whole = whole - math.log(20)
    assert torch.allclose(2 * AlignmentUniformity(0.5, 1)(anchors, positives), whole, rtol=1e-5)


def test_weights_beyond_their_range_are_refused() -> None:
    with pytest.raises(InputError, match="a must be above 0 and below 1, got 1"):
        AlignmentUniformity(1.0, 1)
    with pytest.raises(InputError, match=r"p must be 1 or 2, got 1\.5"):
        AlignmentUniformity(0.5, 1.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="in-batch negatives need a batch of at least 2, got 1"):
        AlignmentUniformity()(torch.zeros(1, 2), torch.zeros(1, 2))
