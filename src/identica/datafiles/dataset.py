"""What a file of data turns into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset"]


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Observations as a file holds them, and how they pair up.

    At most one of `positives` and `pairs` is given.

    Attributes:
        observations: Floats [samples, features], or images [samples, channels, height, width].
        positives: Of the same shape as `observations`: row i is the partner of row i.
        pairs: Row numbers of partners in `observations`, counted from 0, [pairs, 2].
        trials: A label for each sample, such as the session that it was recorded in.
        names: Names of the features: the columns of a table, coordinates of joints, or x0, x1, …; none for images.
        labels: Measured behaviour of each sample, [samples] or [samples, k]: real numbers, or whole numbers and names.
        trial: The name of the column or array that `trials` are from.
        time: Of each sample, in the units of the file; seconds from the first for dates.
        beside: What else goes along with the samples, by name, to be shown.
        notes: What a user should know of how the file was read, a line each.
    """

    observations: NDArray[Any]
    positives: NDArray[Any] | None = None
    pairs: NDArray[np.int64] | None = None
    trials: NDArray[Any] | None = None
    names: tuple[str, ...] = ()
    labels: NDArray[Any] | None = None
    trial: str | None = None
    notes: tuple[str, ...] = ()
    time: NDArray[np.float64] | None = None
    beside: Mapping[str, NDArray[Any]] = field(default_factory=dict)
