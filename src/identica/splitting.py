"""Folds for scikit-learn's searches: blocks in time, and trials as a whole, so that no pair goes across a seam."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from identica import _checks
from identica._checks import InputError
from identica.sources import runs_of

__all__ = ["BlockSplit", "time_blocks"]

Indices = NDArray[np.int64]


def time_blocks(count: int, blocks: int, trials: ArrayLike | None = None) -> Indices:
    """Numbers of blocks of a series, [count]: about so many of equal length, none of which goes across two trials.

    Pass them as `trials` to fit, score and `BlockSplit`, so that one long recording can be cut into folds.

    Args:
        count: Number of rows.
        blocks: How many blocks, at least; more if trials end within them.
        trials: A label for each row, if there are trials.

    Example:
        >>> time_blocks(6, 3).tolist()
        [0, 0, 1, 1, 2, 2]
    """
    if not 1 <= _checks.at_least_one("blocks", blocks) <= count:
        raise InputError(f"blocks must be at most the number of rows {count}, got {blocks}")
    cut = np.arange(count) * blocks // count
    runs = runs_of(count, trials)
    return np.concatenate([[0], np.cumsum((np.diff(cut) != 0) | (np.diff(runs) != 0))]).astype(np.int64)


class BlockSplit(BaseCrossValidator):  # type: ignore[misc]
    """Folds that are neighbours in time and hold whole trials.

    Args:
        n_splits: Number of folds.
        gap: Rows next to those of a test fold that are in neither part, as neighbours in time are alike.

    Example:
        >>> folds = BlockSplit(2).split(np.zeros((6, 1)), trials=[1, 1, 2, 2, 3, 3])
        >>> print([test.tolist() for _, test in folds])
        [[0, 1], [2, 3, 4, 5]]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"trials": True}

    def __init__(self, n_splits: int = 5, *, gap: int = 0) -> None:
        if _checks.at_least_one("n_splits", n_splits) < 2:
            raise InputError(f"n_splits must be at least 2, got {n_splits}")
        if isinstance(gap, bool) or not isinstance(gap, int) or gap < 0:
            raise InputError(f"gap must be a whole number from 0, got {gap!r}")
        self.n_splits, self.gap = n_splits, gap

    def split(self, X: Any, y: Any = None, groups: Any = None, trials: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Rows to fit and rows to test, for each fold.

        Args:
            X: Observations.
            y: Is ignored.
            groups: The trials, under the name that scikit-learn has for them.
            trials: A label for each row. For one long series, `time_blocks` makes them.
        """
        labels = groups if trials is None else trials
        if labels is None:
            raise InputError(
                "trials must be given, a label for each row: pass trials=time_blocks(len(X), 20) for one long series"
            )
        count = len(X)
        runs = runs_of(count, labels)
        if runs[-1] + 1 < self.n_splits:
            raise InputError(f"trials must be at least n_splits = {self.n_splits}, got {runs[-1] + 1}")
        folds = self._folds(runs)
        for fold in range(self.n_splits):
            tested = folds == fold
            yield np.flatnonzero(~self._widened(tested)), np.flatnonzero(tested)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, trials: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def _folds(self, runs: Indices) -> Indices:
        """The fold of each row: trials in their order, as many rows in each fold as they allow, and none empty."""
        sizes = np.bincount(runs)
        folds = np.zeros(len(sizes), dtype=np.int64)
        fold, first, done = 0, 0, 0
        for place, size in enumerate(sizes):
            to_come = self.n_splits - fold - 1
            full = done + size / 2 >= len(runs) * (fold + 1) / self.n_splits
            if place > first and to_come and (full or len(sizes) - place <= to_come):
                fold, first = fold + 1, place
            folds[place] = fold
            done += size
        return np.asarray(folds[runs])

    def _widened(self, tested: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The rows of a test fold, and those next to them that are left out."""
        near = tested.copy()
        for shift in range(1, self.gap + 1):
            near[shift:] |= tested[:-shift]
            near[:-shift] |= tested[shift:]
        return near
