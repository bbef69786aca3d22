"""What commands say beside their results, and how to have them say less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from identica import _progress
from identica._signals import TerminatedError

__all__ = ["InterruptedWork", "kept_if_interrupted", "quietly", "say"]


class InterruptedWork(Exception):  # noqa: N818
    """Ctrl-C ended a command; the message says what is kept of its work."""


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Without bars and without `say` within the block, if asked for."""
    before = _progress.hidden.set(quiet or _progress.hidden.get())
    try:
        yield
    finally:
        _progress.hidden.reset(before)


def say(*lines: str) -> None:
    """Print what is no result, such as where one was written to; not with --quiet."""
    if not _progress.hidden.get():
        print(*lines, sep="\n", flush=True)


@contextmanager
def kept_if_interrupted(text: str) -> Iterator[None]:
    """Say what is kept of the work if Ctrl-C or SIGTERM ends the block."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedWork(text) from None
    except TerminatedError:
        raise TerminatedError(text) from None
