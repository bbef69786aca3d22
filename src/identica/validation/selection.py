"""What a comparison of assumptions found, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from identica.estimator import ContrastiveICA
from identica.models import Model, Widths
from identica.validation.numbers import NumberTried, supported_number
from identica.validation.refits import Consistency

__all__ = ["Candidate", "Selection"]


@final
@dataclass(frozen=True)
class Candidate:
    """An assumption and how it did.

    Args:
        model: Space and conditional.
        bits: What a code tells about its partner, on pairs that were held out: log₂ M - InfoNCE.
        behind: How many bits less than the best, with its standard error (of the same pairs and over refits).
        tied: Whether that is as good: within twice the error.
        objection: What speaks against the assumption whatever its bits, if anything does.
        consistency: Agreement between refits, for candidates that were refitted.
        estimator: The first fit.
    """

    model: Model
    bits: float
    behind: tuple[float, float]
    tied: bool
    objection: str | None
    consistency: Consistency | None
    estimator: ContrastiveICA


@final
@dataclass(frozen=True)
class Selection:
    """Candidates in the order of preference, and what that means.

    Args:
        candidates: The preferred one first.
        most_bits: The most that could be measured: log₂ of the number of codes that a partner is told from.
        equal_widths_behind: How many bits the best assumption loses with one width for all components, with its
            standard error; None if it has one width anyway.
        numbers: Other numbers of components of the best assumption, if they were asked for.
    """

    candidates: tuple[Candidate, ...]
    most_bits: float
    equal_widths_behind: tuple[float, float] | None = None
    numbers: tuple[NumberTried, ...] = ()

    @property
    def best(self) -> Candidate:
        """The assumption to go with."""
        return self.candidates[0]

    @property
    def widths(self) -> Widths:
        """What the pairs support: `equal` widths unless these are clearly behind."""
        behind = self.equal_widths_behind
        return "equal" if behind is None or behind[0] <= 2 * behind[1] else "free"

    @property
    def components_used(self) -> int:
        """How many components of the best assumption tell something about partners that the others do not."""
        return len(self.best.estimator.components_used_)

    @property
    def verdict(self) -> str:
        """The choice in words, with its reasons and its limits."""
        best, *others = self.candidates
        text = [f"The pairs fit best with: {best.model} ({best.bits:.2f} bits a pair, {best.estimator.conditional_})."]
        ties = [str(other.model) for other in others if other.tied and other.objection is None]
        if ties:
            text.append(f"As good within noise: {'; '.join(ties)}. The more restrictive space goes first.")
        worse = [other for other in others if not other.tied and other.objection is None]
        if worse:
            text.append(f"Next comes {worse[0].model}, {worse[0].behind[0] - best.behind[0]:.2f} bits behind.")
        text.append(self._about_widths())
        used, fitted = self.components_used, best.estimator.n_components_
        if used < fitted:
            text.append(f"Only {used} of {fitted} components tell anything of partners: try {used} components.")
        if self.numbers:
            text.append(self._about_numbers())
        if best.objection is not None:
            text.append(f"But {best.objection}.")
        if best.bits > self.most_bits - 1:
            text.append(
                f"Bits are close to the limit of {self.most_bits:.1f} for so many pairs: give more pairs, or partners "
                "farther apart, to tell assumptions apart more safely."
            )
        if best.consistency is not None:
            text.append(best.consistency.verdict)
        return " ".join(filter(None, text))

    def _about_widths(self) -> str:
        if self.equal_widths_behind is None:
            return ""
        behind = f"{self.equal_widths_behind[0]:.3f} ± {self.equal_widths_behind[1]:.3f} bits behind"
        if self.widths == "equal":
            return f"One width for all components fits as well ({behind})."
        return f"Components have different widths: with one for all the fit is {behind}."

    @property
    def number(self) -> int | None:
        """The number of components that the pairs support, of those that were compared; None if none is steady."""
        return supported_number(self.numbers)

    def _about_numbers(self) -> str:
        if self.number is None:
            return "None of the numbers of components is supported: not all of their components come back in refits."
        return f"The pairs support {self.number} components: all come back in refits, and more do not tell more."

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "best": {"space": self.best.model.space.name, "conditional": self.best.model.conditional},
            "most_bits": round(self.most_bits, 3),
            "widths": self.widths,
            "equal_widths_behind": None
            if self.equal_widths_behind is None
            else [round(value, 4) for value in self.equal_widths_behind],
            "components_used": self.components_used,
            "number": self.number,
            "numbers": [one.summary() for one in self.numbers],
            "candidates": [
                {
                    "space": candidate.model.space.name,
                    "conditional": candidate.model.conditional,
                    "fitted": candidate.estimator.conditional_,
                    "bits": round(candidate.bits, 4),
                    "behind": round(candidate.behind[0], 4),
                    "behind_error": round(candidate.behind[1], 4),
                    "tied": candidate.tied,
                    "objection": candidate.objection,
                    "consistency": None if candidate.consistency is None else candidate.consistency.summary(),
                }
                for candidate in self.candidates
            ],
            "verdict": self.verdict,
        }

    def __str__(self) -> str:
        lines = [f"{'space':<10} {'conditional':<16} {'bits':>7} {'behind best':>16}  {'consistency':>11}  remarks"]
        for candidate in self.candidates:
            agreement = "" if candidate.consistency is None else f"{100 * candidate.consistency.score:.1f}"
            behind = f"{candidate.behind[0]:.3f} ± {candidate.behind[1]:.3f}"
            remarks = candidate.objection or ("tied with the best" if candidate.tied else "")
            space, conditional = candidate.model.space.name, candidate.model.conditional
            line = f"{space:<10} {conditional:<16} {candidate.bits:7.3f} {behind:>16}  {agreement:>11}  {remarks}"
            lines.append(line.rstrip())
        return "\n".join([*lines, *map(str, self.numbers), "", self.verdict])
