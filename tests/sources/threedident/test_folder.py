from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from scenes import scenes, write_files, write_scenes

from identica._checks import InputError
from identica.sources.threedident import read_scenes

REFERENCE = Path(os.environ.get("IDENTICA_DATA", "/nonexistent")) / "3dident_reference"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("identica.sources.threedident._packing.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_an_array_is_mapped_and_read_where_it_is_looked_at(tmp_path: Path) -> None:
    write_scenes(tmp_path, 8)
    found, (images, latents) = read_scenes(tmp_path), scenes(8, 0)
    assert isinstance(found.images.base, np.memmap)
    assert found.shape == (3, 16, 16)
    np.testing.assert_allclose(found.latents, latents, atol=1e-6)
    pixels = found.floats(torch.tensor([5, 2, 5]))
    assert pixels.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal((pixels * 255).round().byte(), torch.from_numpy(images[[5, 2, 5]]).permute(0, 3, 1, 2))


def test_files_are_decoded_once_and_again_when_they_change(tmp_path: Path, own_cache: Path) -> None:
    folder = tmp_path / "released"
    write_files(folder, 5)
    first = read_scenes(folder)
    assert np.array_equal(first.images, scenes(5, 0)[0])
    (kept,) = (own_cache / "3dident").iterdir()
    written = kept.stat().st_mtime_ns
    assert np.array_equal(read_scenes(folder).images, first.images)
    assert kept.stat().st_mtime_ns == written
    (folder / "images" / "000003.png").write_bytes((folder / "images" / "000004.png").read_bytes())
    assert np.array_equal(read_scenes(folder).images[3], first.images[4])


def test_latents_are_scaled_back_where_the_raw_ones_are_missing(tmp_path: Path) -> None:
    write_scenes(tmp_path, 6)
    (tmp_path / "raw_latents.npy").unlink()
    np.testing.assert_allclose(read_scenes(tmp_path).latents, scenes(6, 0)[1], atol=1e-6)


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference images are not at hand")
def test_the_reference_images_can_be_read() -> None:
    found = read_scenes(REFERENCE)
    assert (len(found), found.shape) == (6, (3, 112, 112))
    assert 0.02 < float(found.floats(torch.arange(6)).mean()) < 0.98


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def with_array(name: str, values: object) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / name, np.asarray(values))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without("images.npy"), "must hold images.npy or images/NNNNNN.png, got neither"),
        (with_array("raw_latents.npy", np.zeros((3, 10))), "as many images as raw_latents.npy has rows, 3, got 4"),
        (with_array("raw_latents.npy", np.zeros((4, 9))), "raw_latents.npy must have shape [count, 10], got [4, 9]"),
        (with_array("raw_latents.npy", np.full((4, 10), 3.0)), "must hold latents in [-1, 1], got 3 in column 0, x"),
        (with_array("images.npy", np.zeros((4, 16, 16))), "must be bytes [count, height, width, 3], got float64"),
        (lambda folder: (folder / "images.npy").write_bytes(b"none"), "cannot be read as .npy"),
    ],
)
def test_odd_folders_are_refused(tmp_path: Path, spoil: Callable[[Path], None], message: str) -> None:
    write_scenes(tmp_path, 4)
    spoil(tmp_path)
    with pytest.raises(InputError) as caught:
        read_scenes(tmp_path)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (without("images/000001.png"), "but number 1 is missing"),
        (without("images/000003.png"), "as many images as there are latents, 4, got 3"),
        (without("raw_latents.npy"), None),
        (lambda folder: (folder / "images/000002.png").write_bytes(b"none"), "000002.png' cannot be read"),
    ],
)
def test_odd_files_are_refused(
    tmp_path: Path, own_cache: Path, spoil: Callable[[Path], None], message: str | None
) -> None:
    folder = tmp_path / "released"
    write_files(folder, 4)
    spoil(folder)
    if message is None:  # the other latents are enough
        assert len(read_scenes(folder)) == 4
        return
    with pytest.raises(InputError, match=message):
        read_scenes(folder)
    assert not list(own_cache.rglob("*.npy"))


def test_images_of_different_sizes_are_refused(tmp_path: Path) -> None:
    write_files(tmp_path / "a", 4)
    write_files(tmp_path / "b", 4, size=20)
    (tmp_path / "a" / "images" / "000002.png").write_bytes((tmp_path / "b" / "images" / "000002.png").read_bytes())
    with pytest.raises(InputError, match=r"'000000\.png' is 16 × 16 and '000002\.png' is 20 × 20"):
        read_scenes(tmp_path / "a")
