"""What a fit has shown, in one word and a sentence: the same for the terminal, the page and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from identica._agreement import STRONG, WEAK
from identica.fitting import learnt_by_heart, tells_nothing

__all__ = ["Finding", "Verdict", "judge"]

Finding = Literal["supported", "in part", "these pairs tell nothing", "not checked"]
"""How far held-out pairs and refits bear out what was found."""


@final
@dataclass(frozen=True)
class Verdict:
    """What held-out pairs and refits say of a fit.

    Args:
        finding: In a word or a few.
        reason: The numbers that say so, and what to do about it.
    """

    finding: Finding
    reason: str

    def __str__(self) -> str:
        return f"{self.finding}: {self.reason}"


def judge(
    bits: float | None, error: float = 0.0, fitted_bits: float | None = None, agreement: float | None = None
) -> Verdict:
    """The verdict on a fit.

    *Supported* if held-out pairs share bits, at least half as many as fitted ones, and refits, where there are any,
    find the same components. *In part* if they share bits, but one of the other two does not hold.

    Args:
        bits: Mean bits of pairs that were held out; None if there are none.
        error: The standard error of that.
        fitted_bits: Mean bits of as many fitted pairs.
        agreement: How well components come back in refits, from 0 to 1; None if there are none.

    Example:
        >>> judge(2.0, 0.1, 2.2, 0.99).finding
        'supported'
    """
    if bits is None:
        return Verdict("not checked", "no pairs were held out, so nothing tells whether this holds for other pairs")
    if tells_nothing(bits, error):
        return Verdict(
            "these pairs tell nothing",
            f"codes of held-out pairs share {bits:z.2f} bits, not above zero by more than twice its error: read "
            "nothing into the components; other partners or more pairs may tell them",
        )
    found = f"held-out pairs share {bits:.2f} bits (0 is chance)"
    if fitted_bits is not None and learnt_by_heart(fitted_bits, bits):
        return Verdict(
            "in part",
            f"{found}, fitted ones {fitted_bits:.2f}: more than half was learnt by heart and does not hold for other "
            "pairs; more pairs would help",
        )
    if agreement is None:
        return Verdict("supported", f"{found}; whether another seed finds the same components was not checked")
    again = f"another seed finds the same components to {100 * agreement:.0f} %"
    if agreement >= STRONG:
        return Verdict("supported", f"{found}, and {again}")
    care = "take single ones with care" if agreement >= WEAK else "do not read meaning into single ones"
    return Verdict("in part", f"{found}, but {again}: {care}")
