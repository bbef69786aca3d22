from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from identica.sources.sprites import BinaryImages


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.sampled_from([(8, 8), (4, 6), (64, 64)]))
def test_pixels_come_back(seed: int, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(seed).integers(0, 2, (5, *size), dtype=np.uint8)
    packed = BinaryImages(torch.from_numpy(np.packbits(pixels.reshape(5, -1), axis=1)), size)
    rows = torch.tensor([4, 0, 0, 2])
    assert len(packed) == 5
    assert np.array_equal(packed.floats(rows).numpy(), pixels[rows.numpy(), None])
    assert packed.floats(rows).dtype == torch.float32
