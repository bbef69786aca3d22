from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from kitti_files import line

from identica._checks import InputError
from identica.sources.annotations import annotation_files, read_annotations
from identica.sources.kitti_masks import cut_masks, generating, make_masks, measure_masks, read_masks

pytest.importorskip("pycocotools.mask", reason="needs pycocotools")


def written(folder: Path, *texts: str) -> list[Path]:
    (folder / "kitti_mots").mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (folder / "kitti_mots" / f"{number:04}.txt").write_text(text, encoding="ascii")
    return annotation_files(folder)


def test_each_window_that_shows_a_person_makes_a_sequence(tmp_path: Path) -> None:
    # A frame is 64 × 256: windows begin at 0, 38, 77, 115, 154 and 192.
    text = "".join(line(time, 2001, 10, 80 + time) for time in range(3))
    found = cut_masks(written(tmp_path, text))
    assert found.lengths.tolist() == [3, 3]
    assert found.tracks.tolist() == [0, 0]
    places = measure_masks(found.masks)
    assert places[:3, 1] == pytest.approx([80 - 38 + 5.5, 81 - 38 + 5.5, 82 - 38 + 5.5])
    assert places[3:, 1] == pytest.approx([80 - 77 + 5.5, 81 - 77 + 5.5, 82 - 77 + 5.5])
    assert (places[:, 2] == 144).all()


def test_sequences_end_where_a_mask_is_small_or_missing(tmp_path: Path) -> None:
    text = line(0, 2001, 10, 10) + line(1, 2001, 10, 10) + line(2, 2001, 10, 10, side=5)  # 25 pixels
    text += line(3, 2001, 10, 10) + line(4, 2001, 10, 10) + line(5, 2001, 10, 10)
    text += line(7, 2001, 10, 10)  # alone
    text += line(0, 1001, 30, 10, kind=1) + line(1, 1001, 30, 10, kind=1) + line(0, 10000, 30, 10, kind=10)
    assert cut_masks(written(tmp_path, text)).lengths.tolist() == [2, 3]


def test_people_of_different_videos_are_different(tmp_path: Path) -> None:
    text = line(0, 2001, 10, 10) + line(1, 2001, 10, 10) + line(0, 2002, 30, 10) + line(1, 2002, 30, 10)
    assert cut_masks(written(tmp_path, text, text)).tracks.tolist() == [0, 1, 2, 3]


def test_frames_are_scaled_by_nearest_neighbour() -> None:
    assert generating._nearest(4, 8).tolist() == [0, 2, 4, 6]
    assert generating._nearest(64, 375)[[0, 1, -1]].tolist() == [0, 5, 369]


def test_the_file_has_a_manifest_and_no_pickle(tmp_path: Path) -> None:
    files = written(tmp_path, line(0, 2001, 10, 10) + line(1, 2001, 12, 10))
    manifest = make_masks(files, tmp_path / "new" / "masks.npz")
    with np.load(tmp_path / "new" / "masks.npz", allow_pickle=False) as arrays:
        assert json.loads(str(arrays["manifest"])) == manifest
        assert arrays["masks"].dtype == np.uint8
        assert np.array_equal(arrays["latents"], measure_masks(arrays["masks"]))
    assert (manifest["sequences"], manifest["transitions"], manifest["frames"]) == (1, 1, 2)
    assert list(manifest["sources"]) == ["kitti_mots/0000.txt"]
    assert len(manifest["sources"]["kitti_mots/0000.txt"]) == 64
    first = (tmp_path / "new" / "masks.npz").read_bytes()
    make_masks(files, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == first
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["masks.npz"]


def test_bad_annotations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must show a pedestrian of 30 pixels in consecutive frames, got none"):
        cut_masks(written(tmp_path, line(0, 2001, 10, 10)))
    with pytest.raises(InputError, match="frames must be at least as wide as high, got 64 × 32"):
        cut_masks(written(tmp_path, line(0, 2001, 10, 10, width=32)))
    with pytest.raises(InputError, match="files must be at least one"):
        make_masks([], tmp_path / "x.npz")
    assert not (tmp_path / "x.npz").exists()


def test_a_file_that_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    masks = np.ones((3, 8, 8), np.uint8)
    parts = {"masks": masks, "latents": measure_masks(masks), "lengths": np.array([2]), "tracks": np.array([0])}
    np.savez(tmp_path / "bad.npz", **parts)
    with pytest.raises(InputError, match=r"bad.npz' does not hold sequences of masks: lengths must .* 3 frames, got 2"):
        read_masks(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="masks must not be empty, but that of number 0 is"):
        measure_masks(np.zeros((1, 8, 8), np.uint8))


def real_annotations() -> Path:
    folder = Path(os.environ.get("IDENTICA_DATA", "/nonexistent"))
    if not (folder / "kitti_mots").is_dir():
        pytest.skip("needs IDENTICA_DATA, a folder that has kitti_mots/")
    return folder


def test_a_real_video() -> None:
    video = real_annotations() / "kitti_mots" / "0002.txt"
    found = cut_masks([video])
    assert found.lengths.sum() == len(found.masks) > 20
    assert found.lengths.min() >= 2
    places = measure_masks(found.masks)
    assert places[:, 2].min() >= 30
    people = {one.name for one in read_annotations(video, (2,))}
    assert 0 < len(np.unique(found.tracks)) <= len(people)


@pytest.mark.slow
def test_all_real_annotations(tmp_path: Path) -> None:
    manifest = make_masks(annotation_files(real_annotations()), tmp_path / "masks.npz")
    assert (manifest["sequences"], manifest["transitions"]) == (1399, 34599)
    sequences = read_masks(tmp_path / "masks.npz")
    with np.load(tmp_path / "masks.npz", allow_pickle=False) as arrays:
        assert np.array_equal(measure_masks(arrays["masks"]), sequences.factors.numpy())
