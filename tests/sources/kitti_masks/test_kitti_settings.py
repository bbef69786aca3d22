from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from kitti_files import line, squares

from identica._checks import InputError
from identica.sources import KittiMasks
from identica.sources.kitti_masks import settings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(settings, "cache_folder", lambda: tmp_path / "cache")
    (tmp_path / "data" / "kitti_mots").mkdir(parents=True)
    return tmp_path / "data"


def test_masks_are_made_on_first_use_and_kept(folder: Path) -> None:
    pytest.importorskip("pycocotools.mask", reason="needs pycocotools")
    text = "".join(line(time, 2001, 10, 10 + time) for time in range(4))
    (folder / "kitti_mots" / "0000.txt").write_text(text, encoding="ascii")
    source = KittiMasks(5, held_out=0.0).available()
    assert source.data == "annotations"
    assert len(source.build(0)) == 3
    (kept,) = (folder.parent / "cache" / "kitti_masks").iterdir()
    made = kept.stat().st_mtime_ns
    source.build(0)
    assert kept.stat().st_mtime_ns == made
    assert not (folder / "kitti_masks").exists()
    source.path.parent.mkdir()
    kept.rename(source.path)
    assert len(source.build(0)) == 3
    assert not kept.exists()


def test_the_released_file_comes_first(folder: Path) -> None:
    source = KittiMasks(held_out=0.0)
    with pytest.raises(
        InputError, match=r"data='released' needs the file .*`identica download kitti-masks` fetches it"
    ):
        source.build(0)
    found = squares([3, 4])
    masks = found.images.floats(torch.arange(7))[:, 0].numpy().astype("uint8")
    content = {
        "pedestrians": [masks[:3], masks[3:]],
        "pedestrians_latents": [found.factors[:3].numpy(), found.factors[3:].numpy()],
    }
    source.path.parent.mkdir()
    source.path.write_bytes(pickle.dumps(content))
    assert source.available() == source
    built = source.build(0)
    assert len(built) == 5
    assert torch.equal(built.sequences.images.bits, found.images.bits)


def test_people_are_held_out_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    tracks = [number // 4 for number in range(80)]
    monkeypatch.setattr(KittiMasks, "sequences", lambda self: squares([3] * 80, tracks))
    held = []
    for seed in (0, 1):
        found = KittiMasks(held_out=0.2).build(seed).held_out()
        assert found is not None
        people = {tracks[number] for number in found.chosen.tolist()}
        assert len(found.chosen) == 16 == 4 * len(people)
        held.append(people)
    assert held[0] != held[1]
    assert KittiMasks(held_out=0.0).build(0).held_out() is None


def test_names_say_which_masks_and_how_far_apart() -> None:
    assert str(KittiMasks(1)) == "KITTI Masks, 1 frame apart"
    subset = KittiMasks(5, "annotations", held_out=0.25)
    assert str(subset) == "KITTI Masks (a subset, made from annotations), up to 5 frames apart, 25 % held out"
    assert subset.published() == KittiMasks(5, held_out=0.25)
    assert KittiMasks(5).unpaired() == KittiMasks(1)
    assert "the same person up to 5 frames later. 25 % of the sequences were never trained on." in subset.describe()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_lag": 0}, "max_lag must be a whole number of at least 1, got 0"),
        ({"data": "relased"}, "unknown data 'relased': did you mean 'released'"),
        ({"held_out": 1.0}, "held_out must be from 0 to below 1, got 1.0"),
    ],
)
def test_bad_settings_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        KittiMasks(**wrong)  # type: ignore[arg-type]
    assert message in str(caught.value)
