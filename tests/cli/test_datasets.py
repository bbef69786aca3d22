from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kitti_files import line

from identica.sources.kitti_masks import read_masks, settings

CommandLine = Callable[..., tuple[int, str, str]]


@pytest.fixture
def annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("pycocotools.mask", reason="needs pycocotools")
    monkeypatch.setattr(settings, "cache_folder", lambda: tmp_path / "cache")
    folder = tmp_path / "data"
    (folder / "mots20").mkdir(parents=True)
    places = [10, 11, 11, 12, 14, 14, 15, 18, 18, 19]
    text = "".join(line(time, 2001, place, place + time % 3, 12 + time % 2) for time, place in enumerate(places))
    (folder / "mots20" / "MOTS20-05.txt").write_text(text, encoding="ascii")
    return folder


def test_masks_are_made_from_annotations(command_line: CommandLine, annotations: Path) -> None:
    code, said, _ = command_line("data", "kitti-masks", "--annotations", str(annotations), "--out", "m.npz", "--json")
    assert code == 0
    found = json.loads(said)
    assert (found["sequences"], found["transitions"]) == (1, 9)
    assert read_masks(Path(found["path"])).transitions == 9
    code, said, _ = command_line("data", "kitti-masks", "--annotations", str(annotations), "--out", "n.npz")
    assert said.startswith("1 sequences, 9 transitions and 10 frames of 1 people from 1 videos")


def test_bad_folders_are_named(command_line: CommandLine, annotations: Path, tmp_path: Path) -> None:
    for words, message in (
        (("--annotations", "nowhere", "--out", "m.npz"), "--annotations must be a folder, got 'nowhere'"),
        (("--annotations", str(annotations), "--out", str(tmp_path)), "--out must be a file, got"),
        (("--annotations", str(tmp_path), "--out", "m.npz"), "annotations of masks are needed"),
    ):
        code, _, said = command_line("data", "kitti-masks", *words)
        assert code == 2
        assert message in said
    assert not Path("m.npz").exists()


def test_the_figure_of_steps_needs_no_training(
    command_line: CommandLine, annotations: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(annotations))
    code, said, _ = command_line("figure", "kitti", "--json")
    assert code == 0
    assert json.loads(said)["title"] == "KITTI Masks (a subset, made from annotations)"
    assert sorted(path.name for path in Path("figure-kitti").iterdir()) == ["steps.json", "steps.pdf", "steps.png"]
