"""Settings by held-out bits: cheap questions first, and the long schedule for the best answer alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from identica.fitting.bench import Attempt, Bench
from identica.fitting.choice import Choice, Options

__all__ = ["search"]


def search(bench: Bench, options: Options) -> Attempt:
    """Try settings on short schedules, then let the best have as many steps as the data bear.

    A network that is larger than another must be ahead of it by more than the standard error of the difference, on the
    same pairs. `bench.attempts` holds all that was tried.

    Args:
        bench: Where to try.
        options: What to choose from.
    """
    rungs = options.steps
    short = rungs[min(1, len(rungs) - 1)]
    first = Choice(options.networks[0], options.directions[0], options.scalings[0], options.windows[0], short)
    if options.front_is_open:
        found = _by_front(bench, options, first)
    else:
        found = [bench.attempt(replace(first, network=network)) for network in _plain_order(options.networks)[:1]]
    found = _by_network(bench, options, found)
    return _by_steps(bench, options, found)


def _plain_order(networks: Sequence[str]) -> list[str]:
    """The middle network first: it tells whether a smaller or a larger one is worth a try."""
    middle = min(1, len(networks) - 1)
    return [networks[middle], *networks[:middle], *networks[middle + 1 :]]


def _by_front(bench: Bench, options: Options, first: Choice) -> list[Attempt]:
    """Window, directions and scaling for the smallest network, then directions for the next one."""
    found: list[Attempt] = []
    for window in options.windows:
        found += _by_directions(bench, options, replace(first, window=window))
    best = _best(found, options).choice
    found += [bench.attempt(replace(best, scaling=scaling)) for scaling in options.scalings[1:]]
    best = _best(found, options).choice
    if len(options.networks) > 1:
        found += _by_directions(bench, options, replace(best, network=options.networks[1]))
    return found


def _by_directions(bench: Bench, options: Options, choice: Choice) -> list[Attempt]:
    """More and more directions, until held-out bits clearly fall."""
    found: list[Attempt] = []
    for directions in options.directions:
        found.append(bench.attempt(replace(choice, directions=directions)))
        behind, error = found[-1].behind(max(found, key=_score))
        if behind > 2 * error > 0:
            break
    return found


def _by_network(bench: Bench, options: Options, found: list[Attempt]) -> list[Attempt]:
    """A smaller network if the middle one overfits, a larger one if it does not."""
    middle = max((one for one in found if one.choice.network != options.networks[0]), default=None, key=_score)
    middle = middle or max(found, key=_score)
    others = options.networks[:1] if middle.overfits else options.networks[2:]
    return found + [bench.attempt(replace(middle.choice, network=network)) for network in others]


def _by_steps(bench: Bench, options: Options, found: list[Attempt]) -> Attempt:
    """Longer schedules for the leader while held-out bits rise; a shorter one if even the first was too long."""
    leader = _best(found, options)
    rungs = options.steps
    place = rungs.index(leader.choice.steps)
    longest = rungs[-1]
    if not leader.overfits and place < len(rungs) - 1:
        whole = bench.attempt(replace(leader.choice, steps=longest))
        found = [*found, whole]
        if whole.score > leader.score:
            return _best(found, options)
    for steps in rungs[place + 1 : -1]:
        longer = bench.attempt(replace(leader.choice, steps=steps))
        found = [*found, longer]
        if longer.score <= leader.score:
            break
        leader = longer
    if place > 0 and leader.choice.steps == rungs[place]:
        found = [*found, bench.attempt(replace(leader.choice, steps=rungs[place - 1]))]
    return _best(found, options)


def _best(found: Sequence[Attempt], options: Options) -> Attempt:
    """The best by held-out bits; a smaller network goes first if it is behind by less than a standard error."""
    leader = max(found, key=_score)
    size = options.networks.index
    for network in options.networks[: size(leader.choice.network)]:
        rival = max((one for one in found if one.choice.network == network), default=None, key=_score)
        if rival is not None:
            behind, error = rival.behind(leader)
            if behind <= error:
                return rival
    return leader


def _score(attempt: Attempt) -> float:
    return attempt.score
