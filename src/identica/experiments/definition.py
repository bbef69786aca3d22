"""An experiment is a row of data: a process, a model of it, and the score the paper reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, final

from identica._checks import InputError
from identica.laws import Conditional, Law, Marginal, Uniform
from identica.models import Model
from identica.protocols import Protocol, make_protocol
from identica.spaces import Box, Real, Space, Sphere

__all__ = ["Metric", "Reference", "Row", "space_name"]

Metric = Literal["r2", "mcc"]
"""The score that a row of the paper is about."""

_UNIFORM = Uniform()


class Reference(NamedTuple):
    """A published score in percent: mean and standard deviation over seeds."""

    mean: float
    deviation: float


@final
@dataclass(frozen=True)
class Row:
    """One line of a table.

    Args:
        id: Its name, such as `t2-01`.
        space: Space of the true latents.
        conditional: p(z~ | z).
        model: What the encoder assumes.
        metric: The score the paper reports for it.
        marginal: p(z).
        matches_theory: Whether the theorem's assumptions hold.
        identity: Published score of the observations themselves.
        supervised: Published score of the supervised encoder.
        unsupervised: Published score of the contrastive encoder.
        observed: Number of observed coordinates; as many as latents if not given.
    """

    id: str
    space: Space
    conditional: Law
    model: Model
    metric: Metric
    marginal: Law = _UNIFORM
    matches_theory: bool = False
    identity: Reference | None = None
    supervised: Reference | None = None
    unsupervised: Reference | None = None
    observed: int | None = None

    def __post_init__(self) -> None:
        self.marginal.check(self.space)
        self.conditional.check(self.space)
        if self.observed is not None and self.observed < self.space.dim:
            raise InputError(f"observed must be at least the {self.space.dim} latents, got {self.observed}")

    @property
    def laws(self) -> tuple[Marginal, Conditional]:
        """p(z) and p(z~ | z) on the row's space."""
        return Marginal(self.space, self.marginal), Conditional(self.space, self.conditional)

    def protocol(self, name: str, *, supervised: bool = False) -> Protocol:
        """How the row is trained, without labels or with them."""
        return make_protocol(name, self.model, self.space.dim, supervised=supervised)

    @property
    def process(self) -> str:
        """The process in words."""
        return f"{space_name(self.space)}, {self.marginal}, {self.conditional}"


def space_name(space: Space) -> str:
    """The name a table gives to a space."""
    names: dict[type[Space], str] = {Sphere: "sphere", Box: "box", Real: "unbounded"}
    return names.get(type(space), str(space))
