"""Small pieces of wording that several pages share."""

from __future__ import annotations

from typing import Any

__all__ = ["in_words", "percent", "with_article"]


def with_article(noun: str) -> str:
    """A rotation, an affine map, a permutation: as it stands in a sentence."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def percent(part: float) -> float:
    """A part of one in percent, with the four digits that records keep."""
    return round(100 * float(part), 4)


def in_words(value: Any) -> str:
    """A setting as users read it; None stands for all directions."""
    return "all" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
