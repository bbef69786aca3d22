from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from identica._checks import InputError
from identica.sources.annotations import CAR, PEDESTRIAN, annotation_digest, annotation_files, read_annotations

masks = pytest.importorskip("pycocotools.mask", reason="needs pycocotools")


def test_masks_come_back_as_they_were_encoded(tmp_path: Path) -> None:
    wanted = np.asfortranarray(np.random.default_rng(0).integers(2, size=(30, 40), dtype=np.uint8))
    runs = masks.encode(wanted)["counts"].decode()
    (tmp_path / "mots20").mkdir()
    path = tmp_path / "mots20" / "one.txt"
    path.write_text(f"3 2007 2 30 40 {runs}\n3 1001 1 30 40 {runs}\n3 10000 10 30 40 {runs}\n", encoding="ascii")
    assert annotation_files(tmp_path) == [path]
    (found,) = read_annotations(path, (PEDESTRIAN,))
    assert (found.frame, found.name, found.kind) == (3, 2007, PEDESTRIAN)
    assert np.array_equal(found.mask(), wanted)
    assert [one.name for one in read_annotations(path, (CAR, PEDESTRIAN))] == [2007, 1001]


def test_a_digest_changes_with_the_files_and_the_way(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("a")
    first = annotation_digest([path], "1")
    assert annotation_digest([path], "2") != first
    path.write_text("b")
    assert annotation_digest([path], "1") != first


def test_missing_annotations_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"annotations of masks are needed, .txt files in '.*kitti_mots' or"):
        annotation_files(tmp_path)
