"""Requests to end that come while something must be saved."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from identica._checks import DivergenceError, LostRankError
from identica._signals import TERMINATED, TerminatedError, held_back, termination_told


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Ctrl-C is heard, though a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def asked(*requests: int, then: Exception | None = None) -> list[bool]:
    """What a block hears of requests that come in it; it may end with an error."""
    heard = []
    with termination_told(), held_back() as request_came:
        for request in requests:
            signal.raise_signal(request)
            heard.append(request_came())
        if then is not None:
            raise then
    return heard


def test_without_a_request_nothing_happens() -> None:
    assert asked() == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_request_takes_its_effect_when_the_block_ends() -> None:
    with pytest.raises(TerminatedError) as ended:
        asked(signal.SIGTERM)
    assert ended.value.code == TERMINATED
    with pytest.raises(KeyboardInterrupt):
        asked(signal.SIGINT)


def test_a_second_request_takes_it_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(signal.SIGINT, signal.SIGINT, then=AssertionError("the second request was held back too"))


def test_an_error_does_not_hide_a_request() -> None:
    with pytest.raises(TerminatedError):
        asked(signal.SIGTERM, then=DivergenceError("the loss became nan"))


def test_a_request_does_not_hide_that_another_process_is_gone() -> None:
    with pytest.raises(LostRankError, match="another one is gone"):
        asked(signal.SIGTERM, then=LostRankError("process 0 of 2 ends, since another one is gone"))
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
