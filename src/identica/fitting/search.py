"""Settings by held-out bits: cheap questions first, and the long schedule for the best answer alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from identica.fitting.bench import Attempt, Bench
from identica.fitting.choice import DEEP, Choice, Options

__all__ = ["SEED_OF_TRIALS", "search"]

SEED_OF_TRIALS = 0
"""Seed of what is only tried: the choice is of the data, not of chance, so refits see the same things."""

# Bits by which a large network must be ahead of a small one.
_AHEAD = 0.25
# Bits that a whole schedule must be ahead of a short one for a schedule longer than the recipe's, and how much longer.
_MUCH, _LONGER = 0.5, 3
# Part of the bits of fitted pairs that held-out ones may lack for a longer schedule to be worth its time.
_WIDE = 0.25


def search(bench: Bench, options: Options) -> Attempt:
    """Try settings on short schedules, then let the best have as many steps as the data bear, with the bench's seed.

    If short fits of all directions without noise do not overfit, there are pairs enough: window and scaling are
    chosen, a larger network is tried, and the best has the recipe's whole schedule. Otherwise noise on the observations
    is the remedy, and front, noise and steps are chosen one after the other.

    The front is chosen for a linear map, if there may be one: it takes seconds, and refits of it agree, so that chance
    has no part in the choice. A network that is larger than another must be ahead of it by more than twice the standard
    error of the difference, on the same pairs. `bench.attempts` holds all that was tried.

    Args:
        bench: Where to try.
        options: What to choose from.
    """
    trials = bench.with_seed(SEED_OF_TRIALS)
    found = _chosen(trials, bench, options)
    if trials is not bench:
        if not any(one is found for one in bench.attempts):
            found = bench.attempt(found.choice)
        bench.attempts[:0] = trials.attempts
    return found


def _chosen(bench: Bench, own: Bench, options: Options) -> Attempt:
    """What is best, tried at one bench; whole schedules, which take longest, are tried at the other alone."""
    rungs = options.steps
    short = rungs[min(1, len(rungs) - 1)]
    middle = options.networks[min(1, len(options.networks) - 1)]
    plain = Choice(middle, options.directions[-1], options.scalings[0], options.windows[0], short, options.noises[0])
    first = [bench.attempt(plain)]
    if not first[0].overfits:
        first += [bench.attempt(replace(plain, window=window)) for window in options.windows]
    if not max(first, key=_score).overfits:
        front = _by_front(bench, replace(options, directions=options.directions[-1:]), plain)
        larger = [bench.attempt(replace(front.choice, network=network)) for network in options.networks[2:]]
        return _by_steps(bench, own, options, [front, *larger])
    start = replace(plain, directions=options.directions[0], noise=options.usual_noise)
    found, noisy = _fronts(bench, options, start)
    if options.usual_noise == 0:
        return _by_steps(bench, own, options, [*found, noisy])
    return _best([*found, *_by_noise(bench, options, noisy)], options)


def _fronts(bench: Bench, options: Options, start: Choice) -> tuple[list[Attempt], Attempt]:
    """The best linear map, if there may be one, and a network with noise behind the same front or all directions."""
    if options.networks[0] in (start.network, DEEP):
        return [], _by_front(bench, options, start)
    linear = _by_front(bench, options, replace(start, network=options.networks[0], noise=options.noises[0]))
    same = replace(linear.choice, network=start.network, noise=start.noise)
    tried = [bench.attempt(replace(same, directions=one)) for one in (same.directions, options.directions[-1])]
    return [linear], max(tried, key=_score)


def _by_front(bench: Bench, options: Options, first: Choice) -> Attempt:
    """Window, then directions, then scaling; the longest window and the fewest directions of those that are as good.

    Else chance would pick among equals, and refits would see different things.
    """
    windows = [bench.attempt(replace(first, window=window)) for window in options.windows]
    found = [_first_as_good(windows[::-1])]
    best = found[0].choice
    for directions in options.directions:
        found.append(bench.attempt(replace(best, directions=directions)))
        behind, error = found[-1].behind(max(found, key=_score))
        if behind > 2 * error > 0:  # more directions are worse still
            break
    best = _first_as_good(found).choice
    return max((bench.attempt(replace(best, scaling=scaling)) for scaling in options.scalings), key=_score)


def _first_as_good(found: Sequence[Attempt]) -> Attempt:
    """The first that is behind the best by no more than the standard error."""
    leader = max(found, key=_score)
    return next(one for one, (behind, error) in ((one, one.behind(leader)) for one in found) if behind <= error)


def _by_noise(bench: Bench, options: Options, short: Attempt) -> list[Attempt]:
    """A longer schedule for a fit with noise, as much noise as is best there, and a longer one if that paid."""
    place = options.steps.index(short.choice.steps)
    tried = [short]
    if place < len(options.steps) - 1:
        tried.append(bench.attempt(replace(short.choice, steps=options.steps[place + 1])))
    usual = options.noises.index(options.usual_noise)
    for side in (options.noises[usual + 1 :], options.noises[:usual][::-1]):
        for noise in side:
            leader = max(tried, key=_score)
            tried.append(bench.attempt(replace(leader.choice, noise=noise)))
            if tried[-1].score <= leader.score:
                break
        if max(tried, key=_score).choice.noise != options.usual_noise:
            break
    leader = max(tried, key=_score)
    reached, (behind, error) = options.steps.index(leader.choice.steps), short.behind(leader)
    paid = behind > 2 * error and leader.gap < _WIDE
    if place < reached < len(options.steps) - 1 and paid:
        tried.append(bench.attempt(replace(leader.choice, steps=options.steps[reached + 1])))
    return tried


def _by_steps(bench: Bench, own: Bench, options: Options, found: list[Attempt]) -> Attempt:
    """Longer schedules for the leader while held-out bits rise; a shorter one if even the first was too long."""
    leader = _best(found, options)
    rungs = options.steps
    place = rungs.index(leader.choice.steps)
    if not leader.overfits and place < len(rungs) - 1:
        whole = own.attempt(replace(leader.choice, steps=rungs[-1]))
        found = [*found, whole]
        if whole.score > leader.score:
            return _lengthened(own, leader, whole)
    for steps in rungs[place + 1 : -1]:
        longer = bench.attempt(replace(leader.choice, steps=steps))
        found = [*found, longer]
        if longer.score <= leader.score:
            break
        leader = longer
    if leader.overfits and place > 0 and leader.choice.steps == rungs[place]:
        found = [*found, bench.attempt(replace(leader.choice, steps=rungs[place - 1]))]
    return _best(found, options)


def _lengthened(bench: Bench, short: Attempt, whole: Attempt) -> Attempt:
    """A longer schedule than the recipe's for a large network, if the recipe's brought much and was not too long."""
    if whole.choice.network != DEEP or whole.overfits or whole.score - short.score < _MUCH:
        return whole
    longer = bench.attempt(replace(whole.choice, steps=_LONGER * whole.choice.steps))
    return longer if longer.score > whole.score else whole


def _best(found: Sequence[Attempt], options: Options) -> Attempt:
    """The best by held-out bits; a smaller network goes first if it is behind by less than twice the standard error."""
    leader = max(found, key=_score)
    for network in options.networks[: options.networks.index(leader.choice.network)]:
        rival = max((one for one in found if one.choice.network == network), default=None, key=_score)
        if rival is not None:
            behind, error = rival.behind(leader)
            # On short schedules a large network is ahead of a small one that will catch up.
            if behind <= 2 * error + (_AHEAD if leader.choice.network == DEEP else 0):
                return rival
    return leader


def _score(attempt: Attempt) -> float:
    return attempt.score
