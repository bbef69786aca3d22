"""Gradient-boosted trees on binned inputs, all classes at once: what DCI reads importances from.

Written here for three reasons. Scores that come from elsewhere drift with the version of the software; scikit-learn's
histogram trees have no importances; and its exact trees, one for each class and round, take minutes for factors of 40
values. Here one sparse product counts for all classes together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from identica.metrics._inputs import Array

__all__ = ["Boosted", "boost"]

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

_DEPTH, _RATE, _BINS = 3, 0.1, 64
_TINY = 1e-12


class Boosted(NamedTuple):
    """What boosting found.

    Args:
        importances: Squared error that the splits of each input took away, summing to 1; all 0 if nothing did.
        predicted: For the test rows: logits of classes, or values.
    """

    importances: Array
    predicted: Array


def boost(
    inputs: Array, targets: Array, tests: Array, *, loss: Literal["classes", "squares"], rounds: int = 100
) -> Boosted:
    """Boost trees of depth 3 at a rate of 0.1, one for each column of the targets in each round.

    Args:
        inputs: [rows, inputs].
        targets: Indicators of classes, or numbers, [rows, columns].
        tests: Rows to predict, [test rows, inputs].
        loss: `classes` (cross-entropy of a softmax) or `squares`.
        rounds: Number of trees of each column.
    """
    edges = [np.unique(np.quantile(column, np.arange(1, _BINS) / _BINS)) for column in inputs.T]
    bins, test_bins = _binned(inputs, edges), _binned(tests, edges)
    grower = _Grower(bins)
    start = targets.mean(axis=0)
    start = np.log(np.maximum(start, _TINY)) if loss == "classes" else start
    fitted, predicted = (np.tile(start, (len(rows), 1)) for rows in (bins, test_bins))
    importances = np.zeros(inputs.shape[1])
    for _ in range(rounds):
        errors = targets - (_softmax(fitted) if loss == "classes" else fitted)
        trees = grower.grow(errors.astype(np.float32))
        importances += trees.gains
        values = _leaf_values(trees.leaves, errors, loss)
        fitted += _RATE * values.ravel().take(_cells(trees.leaves))
        predicted += _RATE * values.ravel().take(_cells(trees.place(test_bins)))
    total = importances.sum()
    return Boosted(importances / total if total > _TINY else np.zeros_like(importances), predicted)


def _binned(values: Array, edges: list[Array]) -> Whole:
    columns = [np.searchsorted(edge, column, side="left") for edge, column in zip(edges, values.T, strict=True)]
    return np.stack(columns, axis=1)


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def _leaf_values(leaves: Whole, errors: Array, loss: str) -> Array:
    """The step of each leaf, [leaves, columns]: a mean error, or for classes one step of Newton's method."""
    columns, count = errors.shape[1], 2**_DEPTH
    flat = (leaves + count * np.arange(columns)).ravel()

    def summed(weights: Array) -> Array:
        found: Array = np.bincount(flat, weights.ravel(), count * columns).astype(np.float64)
        return found.reshape(columns, count).T

    if loss == "squares":
        return summed(errors) / np.maximum(summed(np.ones_like(errors)), 1)
    curvature = np.abs(errors) * (1 - np.abs(errors))
    found = summed(curvature)
    step = np.divide(summed(errors), found, out=np.zeros_like(found), where=found > 1e-9)
    return step * (columns - 1) / columns


@final
@dataclass(frozen=True)
class _Trees:
    """Trees of one round: splits[level] = (input, bin), [nodes, columns] each, and the leaf of each training row."""

    splits: list[tuple[Whole, Whole]]
    leaves: Whole
    gains: Array

    def place(self, bins: Whole) -> Whole:
        """The leaf of each row in each tree."""
        nodes = np.zeros((len(bins), self.leaves.shape[1]), dtype=np.int64)
        for split in self.splits:
            nodes = _descend(nodes, bins, split)
        return nodes


def _descend(nodes: Whole, bins: Whole, split: tuple[Whole, Whole]) -> Whole:
    # Flat indices: numpy gathers with them several times faster than along an axis.
    cells = _cells(nodes)
    inputs, limits = (part.ravel().take(cells) for part in split)
    values = bins.ravel().take(inputs + bins.shape[1] * np.arange(len(bins))[:, None])
    return 2 * nodes + (values > limits)


def _cells(nodes: Whole) -> Whole:
    """Where the node of each row and column is in an array [nodes, columns] that is made flat."""
    result: Whole = nodes * nodes.shape[1] + np.arange(nodes.shape[1])
    return result


class _Grower:
    def __init__(self, bins: Whole) -> None:
        rows, self.inputs = bins.shape
        self.bins = bins
        cells = (bins + _BINS * np.arange(self.inputs)).ravel()
        of_rows = np.repeat(np.arange(rows), self.inputs)
        ones = np.ones(cells.size, dtype=np.float32)
        self.cells = csr_array((ones, (cells, of_rows)), shape=(self.inputs * _BINS, rows))

    def grow(self, errors: Floats) -> _Trees:
        """One tree for each column of errors, level by level."""
        rows, columns = errors.shape
        nodes: Whole = np.zeros((rows, columns), dtype=np.int64)
        sums = self._count(errors)[:, :, None]
        counts = np.broadcast_to(self._count(np.ones((rows, 1), dtype=np.float32))[:, :, None], sums.shape)
        splits, gains = [], np.zeros(self.inputs)
        for level in range(_DEPTH):
            split, gained = _best(sums, counts)
            gains += np.bincount(split[0].ravel(), gained.ravel(), self.inputs) / rows
            splits.append(split)
            nodes = _descend(nodes, self.bins, split)
            if level + 1 < _DEPTH:
                sums, counts = self._children(sums, errors, nodes), self._children(counts, None, nodes)
        return _Trees(splits, nodes, gains)

    def _count(self, values: Floats) -> Floats:
        """Sums of values in each bin of each input, [inputs, bins, columns]."""
        result: Floats = (self.cells @ values).reshape(self.inputs, _BINS, -1)
        return result

    def _children(self, parents: Floats, values: Floats | None, nodes: Whole) -> Floats:
        """Sums in the nodes of the next level: left ones are counted, right ones are what is left of their parents."""
        rows, columns = nodes.shape
        before = parents.shape[2]
        inside = np.empty((rows, before, columns), dtype=np.float32)
        for parent in range(before):
            inside[:, parent] = np.where(
                nodes == 2 * parent, np.float32(1) if values is None else values, np.float32(0)
            )
        left = self._count(inside.reshape(rows, -1)).reshape(self.inputs, _BINS, before, columns)
        right = parents.reshape(left.shape) - left
        return np.stack([left, right], axis=3).reshape(self.inputs, _BINS, 2 * before, columns)


def _best(sums: Floats, counts: Floats) -> tuple[tuple[Whole, Whole], Array]:
    """The split of each node that takes away most squared error, and how much; none if the node is pure."""
    left, left_count = (np.cumsum(part, axis=1, dtype=np.float64) for part in (sums, counts))
    total, count = left[:, -1:], left_count[:, -1:]
    right, right_count = total - left, count - left_count
    allowed = (left_count > 0) & (right_count > 0)
    means = left / np.maximum(left_count, 1) - right / np.maximum(right_count, 1)
    gain = np.where(allowed, left_count * right_count / np.maximum(count, 1) * means**2, 0.0)
    flat = gain.reshape(-1, *gain.shape[2:])
    best = flat.argmax(axis=0)
    most = np.take_along_axis(flat, best[None], axis=0)[0]
    inputs, limits = np.divmod(best, _BINS)
    # A node that cannot be split sends all its rows to the left.
    return (inputs, np.where(most > 0, limits, _BINS)), most
