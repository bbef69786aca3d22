from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from identica._checks import InputError
from identica.datafiles import Motion, read_bvh, read_dataset

CLIPS = {"07_01": 317, "07_02": 330, "16_01": 323, "35_01": 359}
STILL = {"Hips", "LHipJoint", "RHipJoint", "LowerBack"}  # all of them at the origin

REST = (0, 0, 0)


def bvh(*frames: tuple[float, ...], order: str = "ZYX", arm: str = "Arm", length: float = 10) -> str:
    """Hips, an arm along x and a hand at (1, 2, 3) from it; a frame is root place, root, arm and hand angles."""
    turns = " ".join(f"{axis}rotation" for axis in order)
    numbers = "\n".join(" ".join(map(str, frame)) for frame in frames)
    return f"""HIERARCHY
ROOT Hips
{{
  OFFSET 5 5 5
  CHANNELS 6 Xposition Yposition Zposition {turns}
  JOINT {arm}
  {{
    OFFSET {length} 0 0
    CHANNELS 3 {turns}
    JOINT Hand
    {{
      OFFSET 1 2 3
      CHANNELS 3 {turns}
      End Site
      {{
        OFFSET 0 0 1
      }}
    }}
  }}
}}
MOTION
Frames: {len(frames)}
Frame Time: 0.0083333
{numbers}
"""


def frame(root: Any = REST, arm: Any = REST, place: Any = REST) -> tuple[float, ...]:
    return (*place, *root, *arm, *REST)


def read(folder: Path, text: str) -> Motion:
    (folder / "clip.bvh").write_text(text, encoding="utf-8")
    return read_bvh(folder / "clip.bvh")


# --- forward kinematics, by hand


@pytest.mark.parametrize(
    ("order", "angles", "hand"),
    [
        ("XYZ", (90, 0, 0), (1, -3, 2)),
        ("XYZ", (0, 90, 0), (3, 2, -1)),
        ("XYZ", (0, 0, 90), (-2, 1, 3)),
        ("XYZ", (-90, 0, 0), (1, 3, -2)),
        ("ZYX", (90, 0, 0), (-2, 1, 3)),
        ("ZYX", (90, 0, 90), (3, 1, 2)),  # about x to (1, -3, 2), then about z
        ("XYZ", (90, 0, 90), (-2, -3, 1)),  # about z to (-2, 1, 3), then about x
        ("ZYX", (90, 90, 90), (3, 2, -1)),  # about x to (1, -3, 2), about y to (2, -3, -1), about z
        ("XYZ", (90, 90, 90), (3, -2, 1)),  # about z to (-2, 1, 3), about y to (3, 1, 2), about x
    ],
)
def test_a_joint_turns_what_hangs_on_it_in_the_order_of_its_channels(
    tmp_path: Path, order: str, angles: tuple[float, ...], hand: tuple[float, ...]
) -> None:
    motion = read(tmp_path, bvh(frame(), frame(arm=angles), order=order))
    assert motion.moving() == ("Hand",)  # the arm itself stays where it is
    expected = [[np.add((10, 0, 0), (1, 2, 3))], [np.add((10, 0, 0), hand)]]
    np.testing.assert_allclose(motion.positions(), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("order", "root", "arm", "hand"),
    [
        ("ZYX", (0, 0, 90), (10, 0, 0), (11, -3, 2)),
        ("ZYX", (90, 0, 0), (0, 10, 0), (-2, 11, 3)),
        ("ZYX", (0, 90, 90), (10, 0, 0), (11, -3, 2)),  # Ry Rx: the heading is all of Ry
        ("YXZ", (-120, 0, 90), (0, 10, 0), (-2, 11, 3)),
    ],
)
def test_the_root_turns_everything_but_its_heading_and_place_are_taken_out(
    tmp_path: Path, order: str, root: Any, arm: Any, hand: Any
) -> None:
    motion = read(tmp_path, bvh(frame(), frame(root, place=(7, 8, 9)), order=order))
    np.testing.assert_array_equal(motion.root, [(0, 0, 0), (7, 8, 9)])
    np.testing.assert_allclose(motion.skeleton()[1], [(0, 0, 0), arm, hand], atol=1e-12)
    assert motion.moving() == (("Arm", "Hand") if arm != (10, 0, 0) else ("Hand",))


def test_turns_add_up_along_the_limb(tmp_path: Path) -> None:
    motion = read(tmp_path, bvh(frame(), frame(root=(90, 0, 0), arm=(0, 0, 90))))
    # The arm brings the hand to (11, -3, 2), the root turns that about z.
    np.testing.assert_allclose(motion.positions()[1], [(0, 10, 0), (3, 11, 2)], atol=1e-12)


def test_the_way_through_the_room_is_no_part_of_the_positions(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    body, arm = generator.uniform(-80, 80, (2, 30, 3))
    heading, place = generator.uniform(-180, 180, 30), generator.normal(size=(30, 3))
    here = [frame((0, *body[i, 1:]), arm[i]) for i in range(30)]
    there = [frame((heading[i], *body[i, 1:]), arm[i], place[i]) for i in range(30)]
    first, second = (read(tmp_path, bvh(*frames, order="YXZ")).positions() for frames in (here, there))
    assert first.shape == (30, 2, 3)
    np.testing.assert_allclose(second, first, atol=1e-9)


def test_a_motion_holds_what_the_file_says(tmp_path: Path) -> None:
    text = bvh(frame((1, 2, 3), (4, 5, 6), place=(7, 8, 9)), frame(), arm="Upper  Arm")
    text = text.replace("CHANNELS 3 Zrotation Yrotation Xrotation\n      End", "CHANNELS 1 Yrotation\n      End")
    text = text.replace("4 5 6 0 0 0", "4 5 6 30").replace("0 0 0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0")
    motion = read(tmp_path, "\ufeff" + text.replace("\n", "\r\n"))
    assert motion.joints == ("Hips", "Upper Arm", "Hand")
    assert motion.parents == (-1, 0, 1)
    assert motion.orders == ("ZYX", "ZYX", "YXZ")
    np.testing.assert_array_equal(motion.offsets, [(5, 5, 5), (10, 0, 0), (1, 2, 3)])
    np.testing.assert_array_equal(motion.angles[0], [(1, 2, 3), (4, 5, 6), (30, 0, 0)])
    np.testing.assert_array_equal(motion.root[0], (7, 8, 9))
    assert motion.frame_time == 0.0083333


# --- as a dataset

BENT = [frame(arm=(10 * step, 0, 0)) for step in range(4)]


def test_a_clip_has_a_column_for_each_coordinate_that_changes(tmp_path: Path) -> None:
    motion = read(tmp_path, bvh(*BENT))
    data = read_dataset(tmp_path / "clip.bvh")
    assert data.names == ("Hand.x", "Hand.y")  # turning about z leaves the hand's z as it is
    assert data.observations.dtype == np.float64
    np.testing.assert_array_equal(data.observations, motion.positions()[:, 0, :2])
    assert (data.positives, data.pairs, data.trials) == (None, None, None)
    some = read_dataset(tmp_path / "clip.bvh", columns=["Hand.y"])
    assert some.names == ("Hand.y",)
    np.testing.assert_array_equal(some.observations, data.observations[:, 1:])
    (tmp_path / "pairs.csv").write_text("0,3\n", encoding="utf-8")
    pairs = read_dataset(tmp_path / "clip.bvh", pairs=tmp_path / "pairs.csv").pairs
    np.testing.assert_array_equal(pairs, [[0, 3]])


def test_a_folder_of_clips_is_read_in_natural_order_and_each_is_a_trial(tmp_path: Path) -> None:
    for name, length in (("walk10.bvh", 12), ("walk9.BVH", 10), ("._walk1.bvh", 0), ("notes.txt", 0)):
        (tmp_path / name).write_text(bvh(*BENT[: 4 if length == 12 else 3], length=length), encoding="utf-8")
    data = read_dataset(tmp_path)
    assert data.trials is not None
    assert data.trials.tolist() == ["walk9"] * 3 + ["walk10"] * 4
    # Arm.x is constant in each clip, but the arms are of different lengths.
    assert data.names == ("Arm.x", "Hand.x", "Hand.y")
    np.testing.assert_array_equal(data.observations[:, 0], [10] * 3 + [12] * 4)
    np.testing.assert_array_equal(data.observations[:3, 1:], read_dataset(tmp_path / "walk9.BVH").observations)
    assert read_dataset(tmp_path, columns=["Hand.y", "Arm.x"]).names == ("Hand.y", "Arm.x")


def test_images_go_before_clips(tmp_path: Path) -> None:
    read(tmp_path, bvh(*BENT))
    for shade in (1, 2):
        Image.new("L", (6, 4), shade).save(tmp_path / f"{shade}.png")
    assert read_dataset(tmp_path).observations.shape == (2, 1, 4, 6)


# --- what cannot be used

GOOD = bvh(*BENT)
BAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty": ("", ("HIERARCHY",)),
    "a table": ("a,b\n1,2\n", ("does not begin with HIERARCHY",)),
    "no motion": (GOOD.partition("MOTION")[0], ("no MOTION",)),
    "no joints": ("HIERARCHY\nMOTION\nFrames: 1\nFrame Time: 1\n", ("no joints",)),
    "no channels": ("HIERARCHY ROOT a { OFFSET 0 0 0 }\nMOTION\nFrames: 1\nFrame Time: 1\n", ("'1' and 0",)),
    "truncated motion": (GOOD.rstrip()[:-8], ("48 numbers", "4 frames of 12", "got 44")),
    "truncated after the times": (GOOD[: GOOD.index("Time: ") + 15], ("48 numbers", "got 0")),
    "truncated times": (GOOD[: GOOD.index("Time: ")], ("Frames:", "Frame Time:")),
    "more numbers": (GOOD + "1 2\n", ("48 numbers", "got 50")),
    "text among numbers": (GOOD.replace("20 0 0", "20 x 0"), ("frame 2 (counted from 0)", "'x'")),
    "NaN": (GOOD.replace("20 0 0", "20 nan 0"), ("frame 2", "'nan'")),
    "text as offset": (GOOD.replace("OFFSET 1 2 3", "OFFSET 1 two 3"), ("offset of 'Hand'", "'two'")),
    "short offset": (GOOD.replace("OFFSET 1 2 3", "OFFSET 1 2"), ("offset of 'Hand'", "'CHANNELS'")),
    "no offset": (GOOD.replace("OFFSET 1 2 3", ""), ("'Hand'", "OFFSET", "got 0")),
    "unknown channel": (GOOD.replace("Xrotation", "Wrotation"), ("'Hips'", "'Wrotation'", "Xposition", "Zrotation")),
    "too few channels": (GOOD.replace("CHANNELS 3", "CHANNELS 2"), ("'Xrotation' out of place",)),
    "too many channels": (GOOD.replace("CHANNELS 3", "CHANNELS 4"), ("unknown channel 'JOINT'",)),
    "no number of channels": (GOOD.replace("CHANNELS 3", "CHANNELS"), ("'Arm'", "number", "'Zrotation'")),
    "channel twice": (GOOD.replace("Yrotation", "Xrotation"), ("'Hips'", "'Xrotation' twice")),
    "moving joint": (GOOD.replace("3 Zrotation", "3 Zposition"), ("'Arm'", "only the root")),
    "joint twice": (GOOD.replace("Hand", "Arm"), ("'Arm' is there twice",)),
    "two roots": (GOOD.replace("MOTION", "ROOT Tail { OFFSET 0 0 0 }\nMOTION"), ("'Tail'", "one root")),
    "joint in an end": (GOOD.replace("OFFSET 0 0 1", "JOINT Nail { OFFSET 0 0 1 }"), ("'Nail'", "one root")),
    "open brace": (GOOD.replace("}\nMOTION", "\nMOTION"), ("breaks off", "'Hips'")),
    "closed twice": (GOOD.replace("}\nMOTION", "}}\nMOTION"), ("'}}' out of place",)),
    "no frames": (bvh(), ("frames", "'0'")),
    "half a frame": (GOOD.replace("Frames: 4", "Frames: 4.5"), ("frames", "'4.5'")),
    "time of 0": (GOOD.replace("0.0083333", "0"), ("Frame Time", "above 0", "'0'")),
    "time as a word": (GOOD.replace("0.0083333", "fast"), ("Frame Time", "'fast'")),
    "bytes": ("\udcff", ("utf-8",)),
}


@pytest.mark.parametrize(("text", "words"), [pytest.param(*bad, id=name) for name, bad in BAD.items()])
def test_a_bad_clip_gives_one_clear_line(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    (tmp_path / "clip.bvh").write_text(text, encoding="utf-8", errors="surrogateescape")
    for path in (tmp_path / "clip.bvh", tmp_path):
        with pytest.raises(InputError) as caught:
            read_dataset(path)
        message = str(caught.value)
        assert len(message.splitlines()) == 1
        assert [word for word in ("clip.bvh' cannot be read as .bvh: ", *words) if word not in message] == [], message


@pytest.mark.parametrize(
    ("clips", "options", "words"),
    [
        ({"a": bvh(frame(), frame())}, {}, ("a.bvh", "no joint moves")),
        ({"a": bvh(frame(arm=(9, 9, 9)))}, {}, ("a.bvh", "no joint moves")),
        ({"a": GOOD}, {"trial": "day"}, ("trial", "'day'", "clips are trials")),
        ({"a": GOOD}, {"columns": ["Hand.w"]}, ("no column 'Hand.w'", "'Hand.x'", "'Hand.y'")),
        ({"a": GOOD}, {"columns": ["Arm.x"]}, ("column 'Arm.x'", "a.bvh", "always 10")),
        ({"a": GOOD, "b": GOOD.replace("Hand", "Paw")}, {}, ("b.bvh'", "'a.bvh'", "joint 2", "'Paw'", "'Hand'")),
        (
            {"a": GOOD, "b": GOOD.replace("End Site", "JOINT Nail")},
            {},
            ("b.bvh'", "'a.bvh'", "joint 3", "'Nail'", "(none)"),
        ),
        ({"a": GOOD, "b": "?"}, {}, ("b.bvh' cannot be read", "HIERARCHY")),
    ],
)
def test_clips_that_do_not_fit(
    tmp_path: Path, clips: dict[str, str], options: dict[str, Any], words: tuple[str, ...]
) -> None:
    for name, text in clips.items():
        (tmp_path / f"{name}.bvh").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path if len(clips) > 1 else tmp_path / "a.bvh", **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert [word for word in words if word not in message] == [], message


def test_damage_anywhere_in_a_clip_is_a_clear_error_or_harmless(tmp_path: Path) -> None:
    generator, path = np.random.default_rng(2), tmp_path / "clip.bvh"
    for _ in range(100):
        damaged = bytearray(GOOD.encode())
        for place in generator.integers(0, len(damaged), size=3):
            damaged[place] = generator.integers(0, 256)
        path.write_bytes(bytes(damaged[: generator.integers(len(damaged) // 2, len(damaged) + 1)]))
        with suppress(InputError):
            read_dataset(path)


# --- clips of the CMU motion capture database


@pytest.fixture(scope="module")
def mocap() -> Path:
    folder = Path(os.environ.get("IDENTICA_DATA", "/nonexistent")) / "mocap"
    if not folder.is_dir():
        pytest.skip("needs IDENTICA_DATA, a folder that has mocap/ with clips of the CMU database")
    return folder


@pytest.mark.parametrize("clip", CLIPS)
def test_bones_of_a_real_clip_keep_their_lengths(mocap: Path, clip: str) -> None:
    motion = read_bvh(mocap / f"{clip}.bvh")
    places = motion.skeleton()
    bones = np.linalg.norm(places[:, 1:] - places[:, motion.parents[1:]], axis=2)
    lengths = np.linalg.norm(motion.offsets[1:], axis=1)
    np.testing.assert_allclose(bones, np.broadcast_to(lengths, bones.shape), atol=1e-9)


@pytest.mark.parametrize(("clip", "frames"), CLIPS.items())
def test_real_clips_are_read(mocap: Path, clip: str, frames: int) -> None:
    motion = read_bvh(mocap / f"{clip}.bvh")
    assert motion.angles.shape == (frames, 31, 3)
    assert motion.root.shape == (frames, 3)
    assert motion.frame_time == pytest.approx(1 / 120, rel=1e-4)
    assert set(motion.joints) - set(motion.moving()) == STILL
    data = read_dataset(mocap / f"{clip}.bvh")
    assert data.observations.shape == (frames, 81)
    assert data.names[6:9] == ("LeftFoot.x", "LeftFoot.y", "LeftFoot.z")
    np.testing.assert_array_equal(data.observations, motion.positions().reshape(frames, -1))
    # A person who walks upright has the head above the hips and the feet below.
    height = dict(zip(data.names, data.observations.mean(0), strict=True))
    assert height["Head.y"] > 5
    assert height["LeftFoot.y"] < -10


def test_the_folder_of_real_clips_is_one_dataset(mocap: Path) -> None:
    data = read_dataset(mocap)
    assert data.observations.shape == (sum(CLIPS.values()), 81)
    assert data.trials is not None
    assert dict(zip(*np.unique(data.trials, return_counts=True), strict=True)) == CLIPS
