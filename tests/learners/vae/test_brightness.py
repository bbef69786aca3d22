from __future__ import annotations

import pytest
import torch

from identica._checks import InputError
from identica.learners.vae import Brightness


def test_brightness_takes_images_to_probabilities_and_back() -> None:
    images = torch.tensor([2, 4, 10], dtype=torch.uint8).view(3, 1, 1, 1)
    found = Brightness.fit(images)
    assert found(images).flatten().tolist() == [0, 0.25, 1]
    assert torch.equal(found.inverse(found(images)), images.float())
    assert found(torch.tensor([0.0, 99.0])).tolist() == [0, 1]


def test_images_without_a_range_are_refused() -> None:
    with pytest.raises(InputError, match="images must vary, got 4 whose pixels are all 1"):
        Brightness.fit(torch.ones(4, 1, 16, 16))
    with pytest.raises(InputError, match=r"images must have shape .*, got \[4, 3\]"):
        Brightness.fit(torch.ones(4, 3))
    with pytest.raises(InputError, match="high must be above low, got 0 and 1"):
        Brightness(1, 0)
