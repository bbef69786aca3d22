from __future__ import annotations

import math

import pytest
import torch
from torch import Generator, nn

from identica.information import bits_of_pairs, match_scales
from identica.objectives import InfoNCE
from identica.similarities import DotProduct, PowerDistance, Similarity


def noisy(count: int, width: float, generator: Generator) -> tuple[torch.Tensor, torch.Tensor]:
    first = torch.randn(count, 2, generator=generator)
    return first, first + width * torch.randn(count, 2, generator=generator)


@pytest.mark.parametrize("similarity", [DotProduct(), PowerDistance(1.0), PowerDistance(3.0)])
def test_bits_are_the_logarithm_of_the_candidates_less_infonce(similarity: Similarity, generator: Generator) -> None:
    first, second = noisy(64, 0.3, generator)
    bits = bits_of_pairs(similarity, first, second, 2.0)
    loss = InfoNCE(similarity, in_batch="positives")(2 * second, 2 * first)
    assert float(bits.mean()) == pytest.approx((math.log(64) - float(loss)) / math.log(2), abs=1e-5)
    logits = similarity.logits(2 * second, (2 * first).T)
    expected = math.log(64) - nn.functional.cross_entropy(logits, torch.arange(64), reduction="none")
    assert torch.allclose(bits, expected / math.log(2), atol=1e-5)


def test_more_candidates_than_fit_at_once_are_grouped(generator: Generator) -> None:
    first, second = noisy(20_000, 0.5, generator)
    bits = bits_of_pairs(PowerDistance(2.0), first, second, 1 / (0.5 * math.sqrt(2)))
    assert bits.shape == (20_000,)
    assert float(bits.mean()) == pytest.approx(math.log2(1 + 1 / 0.25), abs=0.05)


def test_the_width_of_the_noise_is_found(generator: Generator) -> None:
    first, second = noisy(4000, 0.2, generator)
    found = match_scales(PowerDistance(2.0), first, second, torch.ones(2), free=False)
    assert found.tolist() == pytest.approx([1 / (0.2 * math.sqrt(2))] * 2, rel=0.05)
