"""The image whose latents are nearest to those that were drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, final, get_args

import numpy as np
import torch
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica.sources.threedident._extras import library

__all__ = ["Matcher", "Search"]

Search = Literal["exact", "ivf"]
"""Look at all latents, or at those in cells near by, which a graph (HNSW) finds: faster among many, and not exact."""

# FAISS asks for so many points to place the centre of a cell.
_POINTS_IN_A_CELL = 39
_CELLS_LOOKED_AT = 64
_GRAPH_LINKS = 32


@final
class Matcher:
    """Nearest neighbours (Euclidean) among known latents, by FAISS.

    Args:
        latents: [count, dim], two or more.
        search: `exact`, or `ivf`: an inverted file whose cells a navigable graph finds.

    Example:
        >>> known = torch.tensor([[0.0], [1.0], [2.0]])
        >>> Matcher(known).nearest(torch.tensor([[0.9], [0.9]]), without=torch.tensor([0, 1]))
        tensor([1, 0])
    """

    def __init__(self, latents: Tensor, search: Search = "exact") -> None:
        _checks.choice("search", search, get_args(Search))
        if latents.ndim != 2 or len(latents) < 2:
            raise InputError(f"latents must be [count, dim] with two or more, got {list(latents.shape)}")
        self._faiss = faiss = library("faiss", "matching latents to images", "faiss")
        count, dim = latents.shape
        if search == "exact":
            self._index = faiss.IndexFlatL2(dim)
        else:
            cells = max(1, min(int(4 * math.sqrt(count)), count // _POINTS_IN_A_CELL))
            self._index = faiss.index_factory(dim, f"IVF{cells}_HNSW{_GRAPH_LINKS},Flat")
            self._index.nprobe = _CELLS_LOOKED_AT
        known = np.ascontiguousarray(latents.cpu().numpy(), np.float32)
        with self._one_thread():  # several would build another index each time
            self._index.train(known)
            self._index.add(known)

    def nearest(self, wanted: Tensor, without: Tensor) -> Tensor:
        """Numbers of the latents nearest to each row of `wanted`, other than the number in `without`."""
        with self._one_thread():
            _, found = self._index.search(np.ascontiguousarray(wanted.cpu().numpy(), np.float32), 2)
        first, second = torch.from_numpy(found).unbind(dim=1)
        return torch.where(first == without.cpu(), second, first)

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        """FAISS has threads of its own, which would get in the way of those that train."""
        before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(1)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)
