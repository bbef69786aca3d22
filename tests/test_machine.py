"""What a run may use of its machine."""

from __future__ import annotations

import os

import pytest

from identica._machine import usable_threads


@pytest.mark.parametrize(
    ("given", "expected"), [("1", 1), ("3", 3), ("0", os.cpu_count()), ("many", os.cpu_count()), ("", os.cpu_count())]
)
def test_threads_are_those_that_the_environment_allows(
    given: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert usable_threads() == expected
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert usable_threads() == os.cpu_count()
