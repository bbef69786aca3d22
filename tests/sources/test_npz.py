from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from identica._checks import InputError
from identica.sources._npz import read_array, read_binary_images

PIXELS = np.random.default_rng(0).integers(0, 2, (5000, 8, 8), dtype=np.uint8)


class Trap:
    """What would leave a file behind if it were unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def test_images_are_read_piece_by_piece(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", imgs=PIXELS)
    images = read_binary_images(tmp_path / "x.npz", "imgs")
    assert images.size == (8, 8)
    assert np.array_equal(images.floats(torch.arange(5000)).numpy(), PIXELS[:, None])


def test_what_would_have_to_be_unpickled_is_not_touched(tmp_path: Path) -> None:
    path, mark = tmp_path / "x.npz", tmp_path / "mark"
    np.savez(path, imgs=PIXELS, values=np.arange(3), metadata=np.array(Trap(mark), dtype=object))
    read_binary_images(path, "imgs")
    assert read_array(path, "values").tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"cannot be read as \.npz: Object arrays cannot be loaded"):
        read_array(path, "metadata")
    assert not mark.exists()
    work, arguments = Trap(mark).__reduce__()  # what unpickling would do
    work(*arguments)
    assert mark.exists()


@pytest.mark.parametrize(
    ("imgs", "words"),
    [
        (PIXELS + 1, "must hold zeros and ones, got 2"),
        (PIXELS.astype(float), "must be bytes .images, height, width., got float64"),
        (PIXELS[:, 0], "got uint8 .5000, 8."),
        (PIXELS[:, :3, :3], "got uint8 .5000, 3, 3."),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, imgs: np.ndarray, words: str) -> None:
    np.savez(tmp_path / "x.npz", imgs=imgs)
    with pytest.raises(InputError, match=words):
        read_binary_images(tmp_path / "x.npz", "imgs")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, other=PIXELS)
    with pytest.raises(InputError, match="must have an array 'imgs', got other"):
        read_binary_images(path, "imgs")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InputError, match=r"cannot be read as \.npz"):
        read_array(path, "other")
    with pytest.raises(InputError, match=r"cannot be read as \.npz"):
        read_array(tmp_path / "none.npz", "other")
