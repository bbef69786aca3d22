from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Generator, Tensor

from identica.fitting import HeldOut, held_out_bits, standard_error
from identica.models import Model
from identica.sources import ArrayPairs
from identica.spaces import Real

NORMAL = Model(Real(2), "normal", "free")


def normal_pairs(count: int, widths: tuple[float, float], generator: Generator) -> tuple[Tensor, Tensor]:
    first = torch.randn(count, 2, generator=generator)
    return first, first + torch.tensor(widths) * torch.randn(count, 2, generator=generator)


@pytest.mark.parametrize("widths", [(0.3, 0.3), (0.1, 0.8)])
def test_bits_are_the_mutual_information_where_it_is_known(widths: tuple[float, float], generator: Generator) -> None:
    bits = held_out_bits(NORMAL, *normal_pairs(1000, widths, generator))
    assert bits.shape == (1000,)
    expected = sum(0.5 * math.log2(1 + 1 / width**2) for width in widths)
    assert float(bits.mean()) == pytest.approx(expected, abs=0.15)


def test_shuffled_pairs_have_no_bits(generator: Generator) -> None:
    first, second = normal_pairs(1000, (0.1, 0.8), generator)
    bits = held_out_bits(NORMAL, first, second[torch.randperm(1000, generator=generator)])
    assert float(bits.mean()) < 3 * float(bits.std()) / 1000**0.5
    assert float(bits.mean()) < 0.01


def test_bits_do_not_depend_on_the_size_of_codes(generator: Generator) -> None:
    first, second = normal_pairs(600, (0.1, 0.8), generator)
    plain, larger = (float(held_out_bits(NORMAL, size * first, size * second).mean()) for size in (1.0, 50.0))
    assert plain == pytest.approx(larger, abs=0.02)


def test_different_widths_are_worth_more_than_one_for_all(generator: Generator) -> None:
    halves = normal_pairs(1000, (0.05, 1.0), generator)
    equal, free = (
        float(held_out_bits(Model(Real(2), "normal", widths), *halves).mean()) for widths in ("equal", "free")
    )
    assert free > equal + 0.2


def test_the_width_comes_from_the_other_half(generator: Generator) -> None:
    first, second = normal_pairs(400, (0.05, 0.05), generator)
    mixed = torch.cat([second[:200], first[200:] + 5 * torch.randn(200, 2, generator=generator)])
    bits = held_out_bits(NORMAL, first, mixed)
    assert float(bits[:200].mean()) < 1 < float(held_out_bits(NORMAL, first, second)[:200].mean())
    assert float(bits[200:].mean()) < 0, "sharp widths punish codes that scatter"


def test_held_out_pairs_are_in_an_order_without_time() -> None:
    source = ArrayPairs(torch.arange(3001.0)[:, None], [[row, row + 1] for row in range(3000)])
    made, same, other = (HeldOut(source, seed) for seed in (0, 0, 1))
    assert len(made.first) == 2048, "more are not scored"
    assert torch.equal(made.second, made.first + 1)
    assert torch.equal(made.first, same.first)
    assert not torch.equal(made.first, other.first)
    assert abs(float(made.first[:1024].mean()) - 1500) < 100
    assert len(made.first.unique()) == 2048


def test_neighbours_in_time_make_the_error_larger() -> None:
    values = torch.randn(50, generator=torch.Generator().manual_seed(0)).repeat_interleave(8)
    blocks = torch.arange(50).repeat_interleave(8)
    alone = float(values.double().std()) / 400**0.5
    assert standard_error(values) == pytest.approx(alone)
    assert standard_error(values, torch.arange(400)) == pytest.approx(alone)
    assert standard_error(values, blocks) == pytest.approx(alone * 8**0.5, rel=0.02), "as if there were 50 values"


def test_pairs_of_a_series_are_in_blocks_of_their_runs() -> None:
    values = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    rows = np.arange(38)
    source = ArrayPairs(values, np.stack([rows, rows + 2], axis=1))
    runs = np.repeat([0, 1], 20)
    found = HeldOut(source, 0, runs)
    assert found.blocks is not None
    order = found.first.eq(values[:38, None]).all(dim=2).float().argmax(dim=0)
    assert len(found.blocks.unique()) >= 10  # type: ignore[no-untyped-call]
    for block in found.blocks.tolist():
        inside = order[found.blocks == block]
        assert len(set(runs[inside.numpy()])) == 1
        assert int(inside.max() - inside.min()) < 4
    assert HeldOut(source, 0).blocks is None
