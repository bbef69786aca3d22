"""Which observations are partners, and which of them can be held out so that nothing of them is fitted."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identica import _checks
from identica._checks import InputError

__all__ = ["IndexPairing", "LabelPairing", "LagPairing", "Pairing", "lagged_pairs", "runs_of"]

Rows = NDArray[np.bool_]
Indices = NDArray[np.int64]

# With fewer groups than this, parts of groups are held out and not whole ones.
_FEWEST_GROUPS = 10
# Long series are cut into so many segments; the end of each is held out, so that a drift is seen in both parts.
_SEGMENTS = 5
_PARTNERS = 5
_TINY = 1e-6
_NEIGHBOURS = 20


class Pairing(ABC):
    """Partners among the rows of an array.

    Args:
        count: Number of rows.
        runs: A number for each row: rows of one run are neighbours in time. None if rows have no order.
    """

    def __init__(self, count: int, runs: Indices | None = None) -> None:
        self.count, self.runs = count, runs

    @abstractmethod
    def pairs(self, rows: Rows | None = None, runs: Indices | None = None) -> Indices:
        """Index pairs [pairs, 2] of which both halves are among these rows, and within a run of these runs."""

    @abstractmethod
    def held_out(self, fraction: float, most: int, seed: int) -> Rows:
        """Rows to hold out: about this part of the pairs, at most so many, lie among them."""

    def cut(self, rows: Rows) -> Indices | None:
        """The runs, cut where held-out rows begin and end: no window and no pair goes across."""
        if self.runs is None:
            return None
        changes = (np.diff(self.runs) != 0) | (np.diff(rows.astype(np.int8)) != 0)
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)


@final
class IndexPairing(Pairing):
    """Pairs that are given by the numbers of their rows.

    Args:
        count: Number of rows.
        indices: Index pairs, [pairs, 2].
    """

    def __init__(self, count: int, indices: ArrayLike) -> None:
        super().__init__(count)
        pairs = np.asarray(indices)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InputError(f"pairs must be whole numbers of shape [pairs, 2], got {pairs.dtype} {list(pairs.shape)}")
        if len(pairs) == 0:
            raise InputError("pairs must hold at least one pair, got none")
        if pairs.min() < 0 or pairs.max() >= count:
            raise InputError(f"pairs must index the {count} samples from 0, got {pairs.min()} to {pairs.max()}")
        self.indices = pairs.astype(np.int64)

    def pairs(self, rows: Rows | None = None, runs: Indices | None = None) -> Indices:
        return self.indices if rows is None else self.indices[rows[self.indices].all(axis=1)]

    def held_out(self, fraction: float, most: int, seed: int) -> Rows:
        """Whole groups of rows that partners connect, or parts of the row order if nearly all rows are connected."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        first, second = self.indices.T
        graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(self.count, self.count))
        groups = connected_components(graph, directed=False)[1].astype(np.int64)
        sizes = np.bincount(groups[first])
        wanted = min(round(fraction * len(first)), most)
        if sizes.max() <= max(1, wanted // 2) and np.count_nonzero(sizes) >= _FEWEST_GROUPS:
            return _random_groups(groups, sizes, wanted, seed)
        return _ends_of_segments(np.zeros(self.count, dtype=np.int64), min(fraction, most / len(first)))


@final
class LagPairing(Pairing):
    """Points of a series, a lag apart.

    Args:
        count: Number of rows.
        lags: Distances of partners, in rows.
        trials: A label for each row; partners lie in one run of equal labels.
    """

    def __init__(self, count: int, lags: Sequence[int], trials: ArrayLike | None = None) -> None:
        super().__init__(count, runs_of(count, trials))
        self.lags = tuple(lags)
        self.indices = np.concatenate([lagged_pairs(count, lag, self.runs) for lag in self.lags])

    def pairs(self, rows: Rows | None = None, runs: Indices | None = None) -> Indices:
        kept = np.ones(len(self.indices), dtype=bool) if rows is None else rows[self.indices].all(axis=1)
        if runs is not None:
            kept &= runs[self.indices[:, 0]] == runs[self.indices[:, 1]]
        return np.asarray(self.indices[kept])

    def held_out(self, fraction: float, most: int, seed: int) -> Rows:
        """Whole trials, or where there are few the ends of segments."""
        assert self.runs is not None
        return _trials_or_ends(self.runs, fraction, most, seed)


@final
class LabelPairing(Pairing):
    """Rows whose labels are equal, or for continuous labels among the nearest.

    Args:
        labels: Of the rows, [rows] or [rows, k]; real numbers are continuous, all else is discrete.
        trials: A label for each row of the run it belongs to; rows are neighbours in time.
        within: Partners lie at most so many rows apart, in one trial; anywhere if not given.
        seed: Of the choice among equals.
    """

    def __init__(
        self, labels: ArrayLike, *, trials: ArrayLike | None = None, within: int | None = None, seed: int = 0
    ) -> None:
        values = np.asarray(labels)
        super().__init__(len(values), runs_of(len(values), trials))
        self.continuous = values.dtype.kind == "f"
        self.labels, self.within, self.seed = _as_points(values), within, seed

    def pairs(self, rows: Rows | None = None, runs: Indices | None = None) -> Indices:
        chosen = np.arange(self.count) if rows is None else np.flatnonzero(rows)
        runs = self.runs if runs is None else runs
        assert runs is not None
        generator = np.random.default_rng(self.seed)
        if self.within is not None:
            found = self._near_in_time(chosen, runs, self.within)
        elif self.continuous:
            found = self._near_labels(chosen, generator)
        else:
            found = self._same_label(chosen, generator)
        if len(found) == 0 and rows is None:
            raise InputError("labels leave no pairs: no two rows have the same label, or none close in time")
        return found

    def held_out(self, fraction: float, most: int, seed: int) -> Rows:
        """Whole trials, or where there are few the ends of segments."""
        assert self.runs is not None
        return _trials_or_ends(self.runs, fraction, most, seed)

    def _near_labels(self, chosen: Indices, generator: np.random.Generator) -> Indices:
        """For each row a few partners, drawn among those with the nearest labels."""
        from scipy.spatial import cKDTree

        # Rows of equal labels are near each other in random order.
        points = self.labels[chosen] + _TINY * generator.standard_normal((len(chosen), self.labels.shape[1]))
        nearest = min(_NEIGHBOURS, len(chosen) - 1)
        if nearest < 1:
            return np.empty((0, 2), dtype=np.int64)
        _, found = cKDTree(points).query(points, k=nearest + 1)
        drawn = np.stack([generator.integers(1, nearest + 1, size=len(chosen)) for _ in range(_PARTNERS)], axis=1)
        partners = np.take_along_axis(found, drawn, axis=1)
        pairs = np.stack([np.repeat(chosen, _PARTNERS), chosen[partners.ravel()]], axis=1)
        return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])

    def _same_label(self, chosen: Indices, generator: np.random.Generator) -> Indices:
        _, groups = np.unique(self.labels[chosen], axis=0, return_inverse=True)
        groups = groups.ravel()
        pairs = []
        for group in range(groups.max() + 1 if len(groups) else 0):
            members = chosen[groups == group]
            if len(members) > 1:
                first = np.repeat(members, _PARTNERS)
                shift = generator.integers(1, len(members), size=len(first))
                second = members[(np.repeat(np.arange(len(members)), _PARTNERS) + shift) % len(members)]
                pairs.append(np.stack([first, second], axis=1))
        return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)

    def _near_in_time(self, chosen: Indices, runs: Indices, within: int) -> Indices:
        """Each row with the one of most similar label among the next rows of its run."""
        allowed = np.zeros(self.count, dtype=bool)
        allowed[chosen] = True
        best, partner = np.full(self.count, np.inf), np.full(self.count, -1)
        for lag in range(1, min(within, self.count - 1) + 1):
            first = np.arange(self.count - lag)
            inside = allowed[:-lag] & allowed[lag:] & (runs[:-lag] == runs[lag:])
            distance = np.square(self.labels[:-lag] - self.labels[lag:]).sum(axis=1)
            distance = np.where(inside & (self.continuous | (distance == 0)), distance, np.inf)
            closer = distance < best[:-lag]
            best[:-lag][closer], partner[:-lag][closer] = distance[closer], first[closer] + lag
        rows = np.flatnonzero(partner >= 0)
        return np.stack([rows, partner[rows]], axis=1).astype(np.int64)


def lagged_pairs(count: int, lag: int, trials: ArrayLike | None = None) -> Indices:
    """Index pairs (t, t + lag) of a series; with `trials` (a label a sample) only those within one trial."""
    _checks.at_least_one("lag", lag)
    if lag >= count:
        raise InputError(f"lag must be below the number of samples {count}, got {lag}")
    start = np.arange(count - lag)
    if trials is not None:
        runs = runs_of(count, trials)
        start = start[runs[lag:] == runs[:-lag]]
        if len(start) == 0:
            raise InputError(f"no trial is longer than the lag of {lag} samples")
    return np.stack([start, start + lag], axis=1)


def runs_of(count: int, trials: ArrayLike | None) -> Indices:
    """A number for each row that goes up where a trial ends; 0 for all rows if there are no trials."""
    if trials is None:
        return np.zeros(count, dtype=np.int64)
    labels = np.asarray(trials)
    if labels.shape != (count,):
        raise InputError(f"trials must hold one label for each of the {count} samples, got {list(labels.shape)}")
    return np.concatenate([[0], np.cumsum(labels[1:] != labels[:-1])]).astype(np.int64)


def _as_points(values: NDArray[Any]) -> NDArray[np.float64]:
    """Labels as points [rows, k]: continuous ones of unit variance, discrete ones as numbers of their classes."""
    columns = values[:, None] if values.ndim == 1 else values
    if columns.ndim != 2 or 0 in columns.shape:
        raise InputError(f"labels must be [samples] or [samples, k], got {list(values.shape)}")
    if values.dtype.kind == "f":
        if not np.isfinite(columns).all():
            raise InputError("labels must be finite, got missing or infinite values")
        spread = columns.std(axis=0)
        return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0), dtype=np.float64)
    if values.dtype.kind not in "biuUSO":
        raise InputError(f"labels must be numbers or names, got {values.dtype}")
    classes = [np.unique(column.astype(str), return_inverse=True)[1].ravel() for column in columns.T]
    return np.stack(classes, axis=1).astype(np.float64)


def _trials_or_ends(runs: Indices, fraction: float, most: int, seed: int) -> Rows:
    sizes = np.bincount(runs)
    wanted = min(round(fraction * len(runs)), most)
    if len(sizes) >= _FEWEST_GROUPS and sizes.max() <= max(1, wanted):
        return _random_groups(runs, sizes, wanted, seed)
    return _ends_of_segments(runs, min(fraction, most / len(runs)))


def _random_groups(groups: Indices, sizes: Indices, wanted: int, seed: int) -> Rows:
    """Groups at random until they hold about as much as is wanted."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(sizes))
    count = int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1
    return np.isin(groups, order[: min(count, len(order) - 1)])


def _ends_of_segments(runs: Indices, fraction: float) -> Rows:
    """The last part of each of some segments of the rows, none of which goes across two runs."""
    count = len(runs)
    segments = np.arange(count) * _SEGMENTS // count
    changes = (np.diff(runs) != 0) | (np.diff(segments) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [count]])
    held = np.zeros(count, dtype=bool)
    for start, end in itertools.pairwise(starts):
        held[end - round(fraction * (end - start)) : end] = fraction > 0
    return held
