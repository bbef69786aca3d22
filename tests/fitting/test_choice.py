from __future__ import annotations

import json

import pytest
import torch
from torch import Generator, Tensor

from identica.fitting import Choice
from identica.fitting.choice import likely_scalings


def counts(generator: Generator) -> Tensor:
    return torch.poisson(torch.full((500, 4), 3.0), generator=generator)


def heavy_tails(generator: Generator) -> Tensor:
    return torch.randn(500, 4, generator=generator).exp() ** 2


def different_units(generator: Generator) -> Tensor:
    return torch.randn(500, 4, generator=generator) * torch.tensor([1.0, 1.0, 1.0, 1000.0])


def plain(generator: Generator) -> Tensor:
    return torch.randn(500, 4, generator=generator)


def whole_numbers_below_zero(generator: Generator) -> Tensor:
    return torch.randint(-5, 6, (500, 4), generator=generator).float()


def yes_or_no(generator: Generator) -> Tensor:
    return torch.randint(0, 2, (500, 4), generator=generator).float()


def constants(generator: Generator) -> Tensor:
    return torch.full((500, 4), 7.0)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (counts, ("none", "sqrt", "log1p")),
        (heavy_tails, ("none", "robust")),
        (different_units, ("none", "robust")),
        (plain, ("none",)),
        (whole_numbers_below_zero, ("none",)),
        (yes_or_no, ("none",)),
        (constants, ("none",)),
    ],
)
def test_scalings_fit_the_kind_of_data(make: object, expected: tuple[str, ...], generator: Generator) -> None:
    assert callable(make)
    assert likely_scalings(make(generator)) == expected


def test_a_constant_feature_says_nothing_about_the_others(generator: Generator) -> None:
    values = torch.cat([heavy_tails(generator), torch.zeros(500, 1)], dim=1)
    assert likely_scalings(values) == ("none", "robust")


def test_a_choice_is_plain_data_and_the_deep_network_has_widths_of_its_own() -> None:
    choice = Choice("deep mlp", 8, "sqrt", 3, 100)
    described = json.loads(json.dumps(choice.describe()))
    expected = {"encoder": "deep mlp", "pca_components": 8, "scaling": "sqrt", "window": 3, "steps": 100}
    assert described.items() >= expected.items()
    assert choice.hidden(5) == (128,) * 4
    assert choice.hidden(20) == (240,) * 4
    assert Choice("mlp", None, "none", 1, 100).hidden(5) is None
