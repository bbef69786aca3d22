from __future__ import annotations

import pytest
import torch

from identica.encoders import InputNoise


def test_noise_is_there_in_training_alone() -> None:
    values, noise = torch.zeros(2000, 3), InputNoise(0.5)
    assert float(noise(values).std()) == pytest.approx(0.5, abs=0.05)
    assert noise.eval()(values) is values
    assert not noise.state_dict(), "a model that is read back needs none"
