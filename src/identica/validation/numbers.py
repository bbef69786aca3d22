"""How many components do pairs support? Told by held-out bits, and by how many come back in refits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from identica import _checks
from identica._checks import InputError

__all__ = ["NumberTried", "check_numbers", "supported_number"]


@final
@dataclass(frozen=True)
class NumberTried:
    """A number of components and how it did.

    Args:
        number: Of components.
        bits: Held-out bits a pair.
        behind: How many bits less than the best number, with its standard error.
        steady: How many components come back in every refit.
        used: How many tell something about partners that the others do not.
    """

    number: int
    bits: float
    behind: tuple[float, float]
    steady: int
    used: int

    def summary(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "number": self.number,
            "bits": round(self.bits, 4),
            "behind": round(self.behind[0], 4),
            "behind_error": round(self.behind[1], 4),
            "steady": self.steady,
            "used": self.used,
        }

    def __str__(self) -> str:
        return (
            f"{self.number:>2} components: {self.bits:.3f} bits, {self.behind[0]:.3f} ± {self.behind[1]:.3f} behind; "
            f"{self.steady} come back, {self.used} are used"
        )


def check_numbers(numbers: Sequence[int], features: int) -> tuple[int, ...]:
    """Whole numbers from 1 to the number of features, each once and in order."""
    found = tuple(sorted({_checks.at_least_one("numbers", number) for number in numbers}))
    if found and found[-1] > features:
        raise InputError(f"numbers must be at most the number of features {features}, got {found[-1]}")
    return found


def supported_number(tried: Sequence[NumberTried]) -> int | None:
    """The fewest components that are as good as the best, of numbers whose components all come back."""
    steady = [one for one in tried if one.steady == one.number == one.used]
    if not steady:
        return None
    best = max(steady, key=lambda one: one.bits)
    for one in sorted(steady, key=lambda one: one.number):
        if one.behind[0] - best.behind[0] <= 2 * max(one.behind[1], best.behind[1]):
            return one.number
    return best.number
