from __future__ import annotations

import math

import pytest
import torch
from torch import Generator

from identica.encoders import SCALINGS, Scaling, make_scaling, scaling_like
from identica.encoders.scalings import RobustScaling


def test_roots_and_logarithms_keep_signs_and_order() -> None:
    values = torch.tensor([[-9.0, -1.0, 0.0, 1.0, 100.0]])
    assert make_scaling("none", values)(values) is values
    assert make_scaling("sqrt", values)(values).tolist() == [[-3, -1, 0, 1, 10]]
    logarithms = make_scaling("log1p", values)(values)[0].tolist()
    assert logarithms == pytest.approx([-math.log(10), -math.log(2), 0, math.log(2), math.log(101)])


def test_robust_scaling_has_median_zero_and_quartiles_one(generator: Generator) -> None:
    sample = torch.randn(4001, 3, generator=generator) * torch.tensor([1e-3, 1.0, 1e4]) + torch.tensor([5.0, 0.0, -1e5])
    scaled = make_scaling("robust", sample)(sample)
    low, median, high = torch.quantile(scaled, torch.tensor([0.25, 0.5, 0.75]), dim=0)
    assert torch.allclose(median, torch.zeros(3), atol=1e-2)
    assert torch.allclose((high - low) / 2, torch.ones(3), atol=1e-2)


def test_outliers_are_drawn_near_and_keep_their_order(generator: Generator) -> None:
    sample = torch.rand(1000, 1, generator=generator)
    scaling = make_scaling("robust", sample)
    far = torch.tensor([[-1e6], [-1e3], [0.2], [0.5], [0.8], [1e3], [1e6]])
    scaled = scaling(far).flatten()
    assert (scaled.diff() > 0).all()
    assert 10 < float(scaled.abs().max()) < 30
    inside = scaling(sample)
    assert torch.allclose(inside, (sample - scaling.median) / scaling.spread), "what is near is only scaled"


def test_an_outlier_does_not_move_the_others(generator: Generator) -> None:
    sample = torch.randn(1000, 1, generator=generator)
    spoilt = torch.cat([sample, torch.full((5, 1), 1e3)])
    plain, robust = (make_scaling("robust", values)(sample) for values in (sample, spoilt))
    assert torch.allclose(plain, robust, atol=0.1)


def test_features_that_hardly_vary_stay_finite() -> None:
    constant = torch.full((100, 1), 3.0)
    rare = torch.zeros(100, 1)
    rare[:3] = 50.0  # both quartiles are 0
    sample = torch.cat([constant, rare], dim=1)
    scaled = RobustScaling.fit(sample)(sample)
    assert torch.equal(scaled[:, 0], torch.zeros(100))
    assert torch.isfinite(scaled).all()
    assert 1 < float(scaled[0, 1]) < 10, "by its deviation"


@pytest.mark.parametrize("name", SCALINGS)
def test_a_scaling_that_is_read_back_is_the_same(name: Scaling, generator: Generator) -> None:
    sample = torch.randn(50, 4, generator=generator)
    made, read = make_scaling(name, sample), scaling_like(name, 4)
    assert {key: value.shape for key, value in made.state_dict().items()} == {
        key: value.shape for key, value in read.state_dict().items()
    }
    read.load_state_dict(made.state_dict())
    assert torch.equal(made(sample), read(sample))
