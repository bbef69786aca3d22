from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from identica._checks import InputError
from identica.sources.annotations import annotation_files
from identica.sources.sprites import measure_transitions, mots, mots_transitions

masks = pytest.importorskip("pycocotools.mask", reason="needs pycocotools")


def line(frame: int, name: int, top: int, left: int, size: tuple[int, int] = (10, 20), kind: int = 1) -> str:
    """An object that fills a rectangle of a frame of 128 × 512."""
    mask = np.zeros((128, 512), np.uint8, order="F")
    mask[top : top + size[0], left : left + size[1]] = 1
    return f"{frame} {name} {kind} 128 512 {masks.encode(mask)['counts'].decode()}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(mots, "cache_folder", lambda: tmp_path / "cache")
    (tmp_path / "data" / "kitti_mots").mkdir(parents=True)
    return tmp_path / "data" / "kitti_mots"


def test_centres_and_areas_are_in_the_window_of_the_object(folder: Path) -> None:
    text = line(0, 1001, 20, 140) + line(1, 1001, 30, 150, (20, 20)) + line(3, 1001, 30, 150)
    (folder / "0000.txt").write_text(text, encoding="ascii")
    # The frame is 64 high and 256 wide, and windows begin at 0, 64, 128 and 192.
    found = measure_transitions(annotation_files()).measured
    assert found == pytest.approx(np.array([[[75 - 64, 12.5, 50], [80 - 64, 20, 100]]]))


def test_only_cars_and_pedestrians_that_stay_in_their_window_count(folder: Path) -> None:
    ignored = line(0, 10000, 20, 10, kind=10) + line(1, 10000, 20, 10, kind=10)
    leaving = line(0, 1002, 20, 100) + line(1, 1002, 20, 120)
    alone = line(0, 1003, 20, 10) + line(1, 1004, 20, 10)
    staying = line(0, 2005, 40, 50, kind=2) + line(1, 2005, 40, 50, kind=2)
    (folder / "0000.txt").write_text(ignored + leaving + alone + staying, encoding="ascii")
    assert len(measure_transitions(annotation_files())) == 1
    (folder / "0000.txt").write_text(ignored + leaving + alone, encoding="ascii")
    with pytest.raises(InputError, match="must show an object in consecutive frames, got none in 1 files"):
        measure_transitions(annotation_files())


def test_what_was_measured_is_kept_until_annotations_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "0000.txt"
    path.write_text(line(0, 1001, 20, 140) + line(1, 1001, 20, 140), encoding="ascii")
    first = mots_transitions()
    calls: list[int] = []
    measure = mots.measure_transitions
    monkeypatch.setattr(mots, "measure_transitions", lambda files: calls.append(1) or measure(files))
    assert np.array_equal(mots_transitions().measured, first.measured)
    assert not calls
    path.write_text(line(0, 1001, 30, 140) + line(1, 1001, 30, 140), encoding="ascii")
    assert not np.array_equal(mots_transitions().measured, first.measured)
    assert calls == [1]
    kept = sorted((folder.parents[1] / "cache" / "transitions").iterdir())
    assert [one.suffix for one in kept] == [".npy", ".npy"]


def test_bad_lines_and_missing_files(folder: Path) -> None:
    with pytest.raises(InputError, match="annotations of masks are needed"):
        annotation_files()
    (folder / "0000.txt").write_text(line(0, 1001, 20, 140) + "1 2 three\n", encoding="ascii")
    with pytest.raises(InputError, match=r"line 2 of .*0000.txt' must be 'frame id class height width rle', got '1 2"):
        measure_transitions(annotation_files())


def test_real_annotations() -> None:
    real = Path(os.environ.get("IDENTICA_DATA", "/nonexistent")) / "kitti_mots" / "0012.txt"
    if not real.is_file():
        pytest.skip("needs IDENTICA_DATA, a folder that has kitti_mots/")
    found = measure_transitions([real]).measured
    assert len(found) > 100
    assert found[..., :2].min() >= 0
    assert found[..., :2].max() <= 64
    moves = np.abs(found[:, 1] - found[:, 0])
    assert np.median(moves[:, 0]) < 3
    assert np.median(moves[:, 1]) < 1
