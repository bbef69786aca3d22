"""What is chosen for a user, and what there is to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from identica.encoders import Scaling

__all__ = ["DEEP", "LINEAR", "Choice", "Options", "likely_scalings"]

DEEP = "deep mlp"
"""Name of the larger network for vectors."""

LINEAR = "linear"
"""Name of the smallest one."""

_DEEP_LAYERS, _DEEP_WIDTH = 4, 128
# Fourth moment of standardised values, and ratio of units, from which robust scaling is tried.
_TAILS = 10.0


@final
@dataclass(frozen=True)
class Choice:
    """Settings of one fit.

    Args:
        network: `linear`, `mlp`, `deep mlp`, or another name of an encoder.
        directions: Principal directions that are kept; all of them if None.
        scaling: Of the values.
        window: Samples of a series that the network sees at a time.
        steps: Number of updates.
        noise: Deviation of the noise on whitened observations in training.
    """

    network: str
    directions: int | None
    scaling: Scaling
    window: int
    steps: int
    noise: float = 0.0

    def hidden(self, dim: int) -> tuple[int, ...] | None:
        """Hidden widths of the network; None for those of the recipe."""
        return (max(_DEEP_WIDTH, 12 * dim),) * _DEEP_LAYERS if self.network == DEEP else None

    def describe(self) -> dict[str, Any]:
        """As plain data, for users."""
        return {
            "encoder": self.network,
            "pca_components": self.directions,
            "scaling": self.scaling,
            "window": self.window,
            "steps": self.steps,
            "noise": self.noise,
        }


@final
@dataclass(frozen=True)
class Options:
    """What a search may choose from; one entry where the user has chosen.

    Args:
        networks: From the smallest to the largest.
        directions: Numbers of principal directions, None for all.
        scalings: Of the values.
        windows: Of a series.
        steps: Schedules, from the shortest to the longest.
        noises: Of the training, from none to the strongest.
    """

    networks: tuple[str, ...]
    directions: tuple[int | None, ...]
    scalings: tuple[Scaling, ...]
    windows: tuple[int, ...]
    steps: tuple[int, ...]
    noises: tuple[float, ...] = (0.0,)

    @property
    def usual_noise(self) -> float:
        """The noise to begin with where pairs are few."""
        return self.noises[len(self.noises) // 2]


def likely_scalings(values: Tensor) -> tuple[Scaling, ...]:
    """Scalings that may help these observations, [count, features]; `none` first.

    Counts may gain by roots and logarithms, heavy tails and different units by robust scaling.
    """
    sample = values[torch.linspace(0, len(values) - 1, min(len(values), 4096)).long()].double()
    deviation = sample.std(dim=0)
    varying = deviation > 0
    if not bool(varying.any()):
        return ("none",)
    if bool((sample >= 0).all()) and bool((sample == sample.round()).all()) and float(sample.max()) > 1:
        return ("none", "sqrt", "log1p")
    sample, deviation = sample[:, varying], deviation[varying]
    kurtosis = ((sample - sample.mean(dim=0)) / deviation).pow(4).mean(dim=0).median()
    unequal = float(deviation.max() / deviation.median()) > _TAILS
    return ("none", "robust") if float(kurtosis) > _TAILS or unequal else ("none",)
