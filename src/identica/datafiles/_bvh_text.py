"""The grammar of .bvh files: joints within joints, then a line of numbers for each frame."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

import numpy as np
from numpy.typing import NDArray

__all__ = ["AXES", "Joint", "parse"]

AXES = "XYZ"

_CHANNELS = tuple(axis + kind for kind in ("position", "rotation") for axis in AXES)
_NONE = -1  # the parent of the root
_SHOWN = 40  # characters of a word that errors quote
_TIMES = re.compile(r"\s*Frames:\s*(\S+)\s+Frame\s+Time:\s*(\S+)(?:\s(.*))?$", re.DOTALL)


@dataclass
class Joint:
    """A joint as the file describes it; `place` counts the joints from 0, `parent` is such a place or -1."""

    name: str
    parent: int
    place: int
    offset: Sequence[float] = ()
    channels: Sequence[str] = ()


def parse(text: str) -> tuple[list[Joint], NDArray[np.float64], float]:
    """The joints, the numbers of all their channels [frames, channels], and the seconds from frame to frame.

    Raises:
        ValueError: The text is not like this; the message says where.
    """
    if text.split(maxsplit=1)[:1] != ["HIERARCHY"]:
        raise ValueError("it does not begin with HIERARCHY")
    hierarchy, *motion = re.split(r"^\s*MOTION\b", text, maxsplit=1, flags=re.MULTILINE)
    if not motion:
        raise ValueError("it has no MOTION after its HIERARCHY")
    joints = _parse_joints(iter(hierarchy.split()[1:]))
    return joints, *_parse_frames(motion[0], sum(len(joint.channels) for joint in joints))


def _parse_joints(words: Iterator[str]) -> list[Joint]:
    joints: list[Joint] = []
    opened: list[Joint] = []
    for word in words:
        if word in {"ROOT", "JOINT", "End"}:
            name = " ".join(takewhile(lambda part: part != "{", words))
            parent = opened[-1].place if opened else _NONE
            opened.append(Joint(name, parent, _NONE if word == "End" else len(joints)))
            if word != "End":
                joints.append(opened[-1])
        elif opened and word == "OFFSET":
            opened[-1].offset = [_number(f"offset of {opened[-1].name!r}", part) for part in islice(words, 3)]
        elif opened and word == "CHANNELS":
            opened[-1].channels = _parse_channels(opened[-1].name, words)
        elif opened and word == "}":
            opened.pop()
        else:
            raise ValueError(f"its HIERARCHY has {word[:_SHOWN]!r} out of place")
    if opened:
        raise ValueError(f"its HIERARCHY breaks off in {opened[-1].name[:_SHOWN]!r}")
    _check_joints(joints)
    return joints


def _check_joints(joints: Sequence[Joint]) -> None:
    if not joints:
        raise ValueError("its HIERARCHY has no joints")
    names = [joint.name for joint in joints]
    for joint in joints:
        label = f"joint {joint.name[:_SHOWN]!r}"
        if names.count(joint.name) > 1:
            raise ValueError(f"{label} is there twice")
        if joint.place > 0 and joint.parent == _NONE:
            raise ValueError(f"{label} has no parent, but there must be one root")
        if len(joint.offset) != 3:
            raise ValueError(f"{label} must have an OFFSET of 3 numbers, got {len(joint.offset)}")
        if joint.place > 0 and any(channel.endswith("position") for channel in joint.channels):
            raise ValueError(f"{label} must only turn, but it has channels of position, which only the root may have")


def _parse_channels(joint: str, words: Iterator[str]) -> list[str]:
    count = next(words, "")
    if not count.isdecimal():
        raise ValueError(f"CHANNELS of joint {joint[:_SHOWN]!r} must begin with their number, got {count[:_SHOWN]!r}")
    channels = list(islice(words, int(count)))
    for channel in channels:
        if channel not in _CHANNELS:
            raise ValueError(
                f"joint {joint[:_SHOWN]!r} has an unknown channel {channel[:_SHOWN]!r}: allowed: {', '.join(_CHANNELS)}"
            )
        if channels.count(channel) > 1:
            raise ValueError(f"joint {joint[:_SHOWN]!r} has channel {channel!r} twice")
    return channels


def _parse_frames(text: str, width: int) -> tuple[NDArray[np.float64], float]:
    """Numbers of all channels, [frames, width], and seconds a frame."""
    found = _TIMES.match(text)
    if found is None:
        raise ValueError("its MOTION does not begin with Frames: and Frame Time:")
    count, time, rest = found.groups(default="")
    if not (count.isdecimal() and int(count) and width):
        raise ValueError(f"its MOTION must have frames and channels, got {count[:_SHOWN]!r} and {width}")
    frame_time = _number("Frame Time", time)
    if frame_time <= 0:
        raise ValueError(f"its Frame Time must be above 0, got {time[:_SHOWN]!r}")
    values = [_number(f"frame {index // width} (counted from 0)", word) for index, word in enumerate(rest.split())]
    if len(values) != int(count) * width:
        raise ValueError(
            f"its MOTION must hold {int(count) * width} numbers, {count} frames of {width}, got {len(values)}"
        )
    return np.array(values).reshape(int(count), width), frame_time


def _number(label: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{label} must be finite numbers, got {word[:_SHOWN]!r}")
    return value
