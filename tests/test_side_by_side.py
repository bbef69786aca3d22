"""Work that is done side by side goes to whoever takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identica import ContrastiveICA
from identica._side_by_side import all_done, current_workers, given_to
from identica.rendering import RenderedSet, write_set
from identica.validation import refit, select


class Backwards:
    """Does work here, the last task first."""

    def __init__(self) -> None:
        self.tasks = 0

    def each(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        for number in reversed(range(len(tasks))):
            self.tasks += 1
            yield number, work(*tasks[number])


def test_results_are_in_the_order_of_the_tasks() -> None:
    tasks = [(one, 2) for one in range(5)]
    workers = Backwards()
    with given_to(workers):
        assert current_workers() is workers
        assert all_done(pow, tasks, 1) == [0, 1, 4, 9, 16]
    assert workers.tasks == 5
    assert current_workers() is None
    assert all_done(pow, tasks, 1) == [0, 1, 4, 9, 16]


def test_an_error_does_not_keep_the_workers() -> None:
    with pytest.raises(ZeroDivisionError), given_to(Backwards()):
        all_done(divmod, [(1, 0)], 1)
    assert current_workers() is None


@pytest.mark.filterwarnings("ignore::UserWarning")  # fits this short find nothing, and say so
def test_fits_are_given_to_them() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 3))
    pairs = {"X_pos": x + 0.1 * random.normal(size=x.shape)}
    model, workers = ContrastiveICA(2, max_steps=5), Backwards()
    with given_to(workers):
        far = refit(model, x, seeds=3, **pairs)
        found = select(x, **pairs, candidates=[("box", "normal"), ("sphere", "vmf")], n_components=2, max_steps=5)
    assert workers.tasks >= 3 + 2
    for one, other in zip(far, refit(model, x, seeds=3, n_jobs=1, **pairs), strict=True):
        np.testing.assert_array_equal(one.transform(x), other.transform(x))
    assert len(found.candidates) == 2


@pytest.mark.slow
def test_pictures_are_given_to_them(tmp_path: Path) -> None:
    pytest.importorskip("embreex")
    pictures, workers, seen = RenderedSet(70, 16, layout="array"), Backwards(), list[int]()
    with given_to(workers):
        assert write_set(pictures, tmp_path / "far", report=lambda done, count: seen.append(done)) == 70
    assert workers.tasks == 3
    assert seen == [0, 6, 38, 70]
    write_set(pictures, tmp_path / "here")
    assert (tmp_path / "far" / "images.npy").read_bytes() == (tmp_path / "here" / "images.npy").read_bytes()
