from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from identica._checks import InputError
from identica.report import decoded_traversals, moved_codes, neighbour_traversals, plot_traversals

CODES = np.random.default_rng(0).uniform(size=(500, 3)) * [1, 10, 100]


def drawn(codes: np.ndarray) -> np.ndarray:
    """Images whose first three pixels are the codes."""
    images = np.zeros((len(codes), 1, 16, 16))
    images[:, 0, 0, :3] = codes
    return images


def test_one_code_moves_over_its_range_and_the_others_stay() -> None:
    moved = moved_codes(CODES, steps=5)
    assert moved.shape == (3, 5, 3)
    middle = np.median(CODES, axis=0)
    for component in range(3):
        others = np.delete(np.arange(3), component)
        assert (moved[component][:, others] == middle[others]).all()
        assert np.allclose(moved[component, [0, -1], component], np.quantile(CODES[:, component], [0.02, 0.98]))
        assert (np.diff(moved[component, :, component]) > 0).all()
    assert (moved_codes(CODES, start=[7, 8, 9])[0, :, 1:] == [8, 9]).all()


def test_a_decoder_sees_each_moved_code() -> None:
    found = decoded_traversals(lambda codes: torch.from_numpy(drawn(codes.numpy())), CODES, steps=4)
    assert found.shape == (3, 4, 1, 16, 16)
    assert np.allclose(found[:, :, 0, 0, :3], moved_codes(CODES, steps=4), rtol=1e-5)


def test_neighbours_are_the_nearest_in_units_of_each_code() -> None:
    found = neighbour_traversals(drawn(CODES), CODES, steps=4)[:, :, 0, 0, :3]
    moved, spread = moved_codes(CODES, steps=4), CODES.std(axis=0)
    assert found.shape == moved.shape
    for one, wanted in zip(found.reshape(-1, 3), moved.reshape(-1, 3), strict=True):
        distances = np.linalg.norm((CODES - wanted) / spread, axis=1)
        assert np.allclose(one, CODES[distances.argmin()])
        assert np.linalg.norm((one - wanted) / spread) < 1


def test_a_code_that_does_not_vary_counts_for_nothing() -> None:
    still = np.column_stack([CODES[:, 0], np.full(500, 3.0)])
    found = neighbour_traversals(drawn(CODES), still, steps=3)
    assert np.isfinite(found).all()


def test_the_picture_has_a_row_for_each_code(tmp_path: Path) -> None:
    found = neighbour_traversals(drawn(CODES), CODES, steps=5)
    plot_traversals(found, tmp_path / "found.png", names=["x", "y", "size"], title="blobs")
    with Image.open(tmp_path / "found.png") as image:
        width, height = image.size
        assert width > height
        assert len(image.convert("L").getcolors(256) or []) > 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: moved_codes(CODES[:, 0]), r"codes must have shape \[samples, components\], got \[500\]"),
        (lambda: moved_codes(CODES, start=[1.0]), r"start must have shape \[3\], got \[1\]"),
        (lambda: moved_codes(CODES, steps=1), "steps must be at least 2, got 1"),
        (
            lambda: neighbour_traversals(drawn(CODES)[:4], CODES),
            r"images must have shape \[500, .* got \[4, 1, 16, 16\]",
        ),
        (lambda: plot_traversals(CODES, Path("x.png")), r"pictures must have shape .* got \[500, 3\]"),
        (lambda: plot_traversals(np.zeros((2, 3, 1, 4, 4)), Path("x.png"), ["a"]), "names must be .* 2, got 1"),
    ],
)
def test_bad_input_is_refused(wrong: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wrong()  # type: ignore[operator]
