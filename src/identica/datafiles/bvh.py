"""Motion capture in Biovision's .bvh format: a skeleton and how it turns over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from identica.datafiles._bvh_text import AXES, Joint, parse
from identica.datafiles._sources import reading

__all__ = ["Motion", "read_bvh", "varies"]


@final
@dataclass(frozen=True, eq=False)
class Motion:
    """A clip of motion capture, as its file has it.

    Attributes:
        joints: Names of all joints, parents before children, the root first; the ends of limbs are no joints.
        parents: The place of each joint's parent in `joints`; -1 for the root.
        offsets: Each joint seen from its parent at rest, [joints, 3].
        orders: The axes that each joint turns about, such as "ZYX", in the order of its channels.
        angles: Degrees about the axes of `orders`, [frames, joints, 3]; 0 where a joint has no such channel.
        root: Place of the root in the room, x, y and z, [frames, 3].
        frame_time: Seconds from one frame to the next.
    """

    joints: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: NDArray[np.float64]
    orders: tuple[str, ...]
    angles: NDArray[np.float64]
    root: NDArray[np.float64]
    frame_time: float

    def skeleton(self) -> NDArray[np.float64]:
        """Places of all joints in the body's frame, [frames, joints, 3].

        The root is the origin, and its heading, the part of its rotation that is about the vertical y axis, is taken
        out: what remains of a walk is the gait, not the way through the room.
        """
        turns = [
            Rotation.from_euler(order, self.angles[:, joint], degrees=True) for joint, order in enumerate(self.orders)
        ]
        bases = [_heading(turns[0]).inv() * turns[0]]
        places = np.zeros((len(self.angles), len(self.joints), 3))
        for joint, parent in enumerate(self.parents[1:], start=1):
            places[:, joint] = places[:, parent] + bases[parent].apply(self.offsets[joint])
            bases.append(bases[parent] * turns[joint])
        return places

    def positions(self) -> NDArray[np.float64]:
        """`skeleton` without the joints that never move in the body's frame, as the root: [frames, moving, 3]."""
        places = self.skeleton()
        return places[:, varies(places).any(axis=1)]

    def moving(self) -> tuple[str, ...]:
        """Names of the joints in `positions`."""
        moves = varies(self.skeleton())
        return tuple(joint for joint, move in zip(self.joints, moves, strict=True) if move.any())


def varies(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which coordinates change along the first axis by more than rounding of the largest of them would."""
    return np.asarray(np.ptp(values, axis=0) > 1e-9 * np.abs(values).max())


def read_bvh(path: Path) -> Motion:
    """Read a clip of motion capture.

    Args:
        path: A .bvh file with one skeleton, whose root alone has channels of position.

    Raises:
        InputError: The file cannot be read; one line says why.
    """
    path = Path(path)
    with reading(path):
        return _assemble(*parse(path.read_text(encoding="utf-8-sig")))


def _heading(turn: Rotation) -> Rotation:
    # The twist of the swing-twist decomposition: unlike Euler angles, it is undefined only for a body upside down,
    # and a body that turns by some angle in the room has a heading that turns by just that angle.
    _, y, _, w = turn.as_quat().T
    return Rotation.from_rotvec(2 * np.arctan2(y, w)[:, None] * [0.0, 1.0, 0.0])


def _assemble(joints: Sequence[Joint], values: NDArray[np.float64], frame_time: float) -> Motion:
    angles = np.zeros((len(values), len(joints), 3))
    root = np.zeros((len(values), 3))
    orders, columns = [], iter(values.T)
    for joint in joints:
        order = ""
        for channel, column in zip(joint.channels, columns, strict=False):  # the next joint goes on with the columns
            if channel.endswith("position"):
                root[:, AXES.index(channel[0])] = column
            else:
                angles[:, joint.place, len(order)] = column
                order += channel[0]
        # A turn by 0 changes nothing, so joints with fewer channels get the axes that they lack.
        orders.append(order + "".join(axis for axis in AXES if axis not in order))
    return Motion(
        joints=tuple(joint.name for joint in joints),
        parents=tuple(joint.parent for joint in joints),
        offsets=np.array([joint.offset for joint in joints]),
        orders=tuple(orders),
        angles=angles,
        root=root,
        frame_time=frame_time,
    )
