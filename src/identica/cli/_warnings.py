"""Warnings as users read them: one line on stderr, without a place in the code."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from identica._progress import hidden

__all__ = ["in_one_line", "note", "quiet_fits", "warn", "warn_of_nothing"]

_NOTHING = "these pairs do not tell the factors"
_IGNORE = f"ignore:{_NOTHING}:UserWarning"


@contextmanager
def in_one_line() -> Iterator[None]:
    """Show each warning within the block as a line of its own, those of this library whatever the filters say."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning, module="identica")
        warnings.showwarning = _show
        yield


@contextmanager
def quiet_fits() -> Iterator[None]:
    """Keep single fits from saying that pairs tell nothing, here and in processes that start within the block."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = _IGNORE if before is None else f"{before},{_IGNORE}"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _NOTHING, UserWarning)
            yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def warn(text: str) -> None:
    """Tell the user of something that is no error."""
    print(f"identica: warning: {' '.join(text.split())}", file=sys.stderr)


def note(text: str) -> None:
    """Tell the user of something that may be as it should; not with --quiet."""
    if not hidden.get():
        print(f"identica: note: {' '.join(text.split())}", file=sys.stderr)


def warn_of_nothing(fits: Sequence[Any]) -> None:
    """Warn if the held-out pairs of some fits share nothing."""
    from identica.fitting import tells_nothing

    failed = [one.validation_score_ for one in fits if tells_nothing(one.validation_score_, one.validation_error_)]
    if failed:
        warn(
            f"{_NOTHING}: in {len(failed)} of {len(fits)} fits codes of held-out pairs share "
            f"no bits above zero ({min(failed):.2f} at the least)"
        )


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    warn(str(message))
