"""What a law is, and its two uses: of latents, and of the partner of a latent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import final

from torch import Generator, Tensor

from identica import _checks
from identica.spaces import Space

__all__ = ["Conditional", "Law", "Marginal", "rounded"]


class Law(ABC):
    """A family of densities with fixed parameters, on a space and around a mean given at each call."""

    @abstractmethod
    def check(self, space: Space) -> None:
        """Raise if the law does not exist on `space`."""

    @abstractmethod
    def sample(self, space: Space, mean: Tensor, generator: Generator) -> Tensor:
        """Draw one point around each row of `mean`."""

    @abstractmethod
    def log_prob(self, space: Space, points: Tensor, mean: Tensor) -> Tensor:
        """Log density of each row of `points` around the row of `mean`; raises if it has no closed form."""


def rounded(law: Law, digits: int) -> Law:
    """The same law with parameters of so many digits, for people to read."""
    assert is_dataclass(law) and not isinstance(law, type)  # noqa: PT018

    def short(value: float) -> float:
        return float(f"{value:.{digits}g}")

    values = {one.name: getattr(law, one.name) for one in fields(law)}
    return replace(
        law, **{name: tuple(map(short, one)) if isinstance(one, tuple) else short(one) for name, one in values.items()}
    )


@final
@dataclass(frozen=True)
class Marginal:
    """p(z): a law around the centre of a space.

    Example:
        >>> import torch
        >>> from identica.laws import Laplace, Uniform
        >>> from identica.spaces import Box, Sphere
        >>> generator = torch.Generator().manual_seed(0)
        >>> Marginal(Sphere(3), Uniform()).sample(5, generator).shape
        torch.Size([5, 3])
    """

    space: Space
    law: Law

    def __post_init__(self) -> None:
        self.law.check(self.space)

    def sample(self, count: int, generator: Generator) -> Tensor:
        """Draw `count` latents on the generator's device."""
        mean = self.space.centre().to(generator.device).expand(count, -1)
        return self.law.sample(self.space, mean, generator)

    def log_prob(self, points: Tensor) -> Tensor:
        """Log density of each row."""
        _checks.columns("points", points, self.space.dim)
        return self.law.log_prob(self.space, points, self.space.centre().to(points).expand_as(points))


@final
@dataclass(frozen=True)
class Conditional:
    """p(z~ | z): a law around each given latent.

    Example:
        >>> import torch
        >>> from identica.laws import Laplace, Uniform
        >>> from identica.spaces import Box, Sphere
        >>> generator = torch.Generator().manual_seed(0)
        >>> latents = Marginal(Box(2), Uniform()).sample(4, generator)
        >>> Conditional(Box(2), Laplace(0.05)).sample(latents, generator).shape
        torch.Size([4, 2])
    """

    space: Space
    law: Law

    def __post_init__(self) -> None:
        self.law.check(self.space)

    def sample(self, given: Tensor, generator: Generator) -> Tensor:
        """Draw the partner of each row of `given`."""
        _checks.columns("given", given, self.space.dim)
        return self.law.sample(self.space, given, generator)

    def log_prob(self, points: Tensor, given: Tensor) -> Tensor:
        """Log density of each row of `points` given the row of `given`."""
        _checks.columns("points", points, self.space.dim)
        _checks.columns("given", given, self.space.dim)
        return self.law.log_prob(self.space, points, given)
