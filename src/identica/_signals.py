"""Requests to end (Ctrl-C, SIGTERM) that wait until what must be saved is saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from identica._checks import LostRankError

__all__ = ["TERMINATED", "TerminatedError", "held_back", "termination_told"]


TERMINATED = 128 + signal.SIGTERM
"""What a process exits with that was asked to end by SIGTERM."""


class TerminatedError(SystemExit):
    """The process was asked to end by SIGTERM."""


@contextmanager
def held_back() -> Iterator[Callable[[], bool]]:
    """Hold back Ctrl-C and SIGTERM within the block; what it gets tells whether one came.

    The request takes its usual effect when the block ends; a second one takes it at once. In other threads than the
    main one, where Python hears no signals, nothing changes.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            _restore(before)
            signal.raise_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        usual = signal.getsignal(number)
        if usual not in (None, signal.SIG_IGN):
            before[number] = usual
            signal.signal(number, note)
    try:
        yield lambda: bool(came)
    except LostRankError:
        # When one process dies, what launched them asks the others to end: they do, and say why.
        came.clear()
        raise
    finally:
        _restore(before)
        if len(came) == 1:  # whatever else ended the block, the request is not lost
            signal.raise_signal(came[0])


@contextmanager
def termination_told() -> Iterator[None]:
    """Let SIGTERM raise an error within the block, as Ctrl-C does, so that what was begun is put in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def tell(number: int, frame: FrameType | None) -> None:
        raise TerminatedError(TERMINATED)

    before = signal.signal(signal.SIGTERM, tell)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _restore(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
