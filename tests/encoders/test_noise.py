from __future__ import annotations

import itertools

import pytest
import torch

from identica.encoders import InputNoise


def test_noise_is_there_in_training_alone() -> None:
    values, noise = torch.zeros(2000, 3), InputNoise(0.5)
    assert float(noise(values).std()) == pytest.approx(0.5, abs=0.05)
    assert noise.eval()(values) is values
    assert not noise.state_dict(), "a model that is read back needs none"


def test_noise_differs_from_batch_to_batch() -> None:
    torch.manual_seed(0)
    values, noise = torch.zeros(100, 3), InputNoise(1.0)
    batches = [noise(values) for _ in range(20)]
    assert not any(torch.equal(one, other) for one, other in itertools.pairwise(batches))
    assert abs(float(torch.stack(batches).mean())) < 0.1
    assert noise(torch.zeros(7, 5)).shape == (7, 5), "batches of another shape have noise of their own"
