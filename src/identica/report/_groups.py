"""Components beyond the first few: groups of one size, to choose from."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["group_names", "groups"]

_MOST_GROUPS = 8


def groups(count: int, size: int) -> list[list[int]]:
    """Numbers of components in groups of one size; the last group shares some with the one before if it must."""
    if count <= size:
        return [list(range(count))]
    starts = [*range(0, count - size, size), count - size]
    return [list(range(start, start + size)) for start in starts[:_MOST_GROUPS]]


def group_names(found: Sequence[Sequence[int]]) -> list[str]:
    """What a menu calls them, counted from 1."""
    return [f"components {one[0] + 1} to {one[-1] + 1}" if len(one) > 1 else f"component {one[0] + 1}" for one in found]
