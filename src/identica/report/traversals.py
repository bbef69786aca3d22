"""What each code does to a picture: one code moved over its range, all others left where they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica._traversing import decoded_traversals, moved_codes
from identica.report._canvas import canvas, save_picture
from identica.report._images import pixels_of

__all__ = ["decoded_traversals", "moved_codes", "neighbour_traversals", "plot_traversals"]

_INCHES = 0.7


def neighbour_traversals(images: Any, codes: Any, start: Any = None, steps: int = 7) -> NDArray[Any]:
    """Images whose codes are nearest to moved codes, [components, steps, channels, height, width]: no decoder needed.

    Distances are Euclidean, in units of each code's deviation; a code that does not vary counts for nothing.

    Args:
        images: Of the sample, [samples, channels, height, width].
        codes: Of the same sample; otherwise as `moved_codes` has them.
        start: As `moved_codes` has it.
        steps: As `moved_codes` has them.
    """
    pictures, values = np.asarray(images), np.asarray(codes, dtype=np.float64)
    if pictures.ndim != 4 or len(pictures) != len(values):
        raise InputError(
            f"images must have shape [{len(values)}, channels, height, width], as many as codes, "
            f"got {list(pictures.shape)}"
        )
    moved = moved_codes(values, start, steps)
    spread = values.std(axis=0)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    wanted = moved.reshape(-1, moved.shape[2]) * inverse
    nearest = [int(np.square(values * inverse - one).sum(axis=1).argmin()) for one in wanted]
    return pictures[nearest].reshape(*moved.shape[:2], *pictures.shape[1:])


def plot_traversals(pictures: Any, path: Path, names: Sequence[str] | None = None, title: str = "") -> None:
    """Traversals as a picture at `path` (.png, .pdf or .svg): a row for each code, from low to high.

    Args:
        pictures: What `decoded_traversals` or `neighbour_traversals` gives.
        path: Where to write.
        names: Of the codes; their numbers if not given.
        title: Above the picture.
    """
    found = np.asarray(pictures)
    if found.ndim != 5:
        raise InputError(
            f"pictures must have shape [components, steps, channels, height, width], got {list(found.shape)}"
        )
    rows, columns = found.shape[:2]
    labels = [f"code {row + 1}" for row in range(rows)] if names is None else list(names)
    if len(labels) != rows:
        raise InputError(f"names must be as many as codes, {rows}, got {len(labels)}")
    pixels = pixels_of(found.reshape(-1, *found.shape[2:]))
    with canvas(_INCHES * (columns + 1), _INCHES * rows + (0.3 if title else 0.0)) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for place, (axes, one) in enumerate(zip(grid.flat, pixels, strict=True)):
            axes.imshow(one[:, :, 0] if one.shape[2] == 1 else one, cmap="gray", vmin=0, vmax=255)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
            if place % columns == 0:
                axes.set_ylabel(labels[place // columns], rotation=0, ha="right", va="center")
        figure.suptitle(title)
        save_picture(figure, path)
