"""What an option says, where that is a number or a word, or several numbers."""

from __future__ import annotations

import math
from typing import Any

from identica._checks import InputError

__all__ = ["fraction", "lags", "names", "number", "whole_or", "wholes"]

_MOST_NUMBERS = 1000


def lags(text: str) -> int | list[int]:
    """One whole number, or several."""
    found = wholes("--lag", text)
    return found[0] if len(found) == 1 else found


def wholes(name: str, text: str) -> list[int]:
    """Whole numbers: a list such as `1,2,5`, a range such as `1:5` with its end, or both."""
    found: list[int] = []
    for item in text.split(","):
        first, colon, last = item.partition(":")
        start = _whole(first)
        end = _whole(last) if colon else start
        if start is None or end is None or not 1 <= start <= end:
            raise InputError(f"{name} must be whole numbers from 1, such as 3, 1,2,5 or 1:5 (1 to 5), got {text!r}")
        if end - start >= _MOST_NUMBERS - len(found):
            raise InputError(f"{name} must be at most {_MOST_NUMBERS} numbers, got more by {text!r}")
        found += range(start, end + 1)
    return list(dict.fromkeys(found))


def whole_or(name: str, text: str, words: dict[str, Any]) -> Any:
    """A whole number, or what one of the words stands for."""
    if text in words:
        return words[text]
    number = _whole(text)
    if number is None or number < 1:
        raise InputError(f"{name} must be {', '.join(words)} or a whole number from 1, got {text!r}")
    return number


def fraction(name: str, text: str) -> float | str:
    """`auto`, or a part from 0 to below 1."""
    return _auto_or(name, text, 1.0, "a part from 0 to below 1")


def number(name: str, text: str) -> float | str:
    """`auto`, or a number from 0."""
    return _auto_or(name, text, math.inf, "a number from 0")


def names(text: str | None) -> list[str] | None:
    """Names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def _auto_or(name: str, text: str, end: float, allowed: str) -> float | str:
    """`auto`, or a number from 0 to below the end."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < end:
        raise InputError(f"{name} must be auto or {allowed}, got {text!r}")
    return value


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
