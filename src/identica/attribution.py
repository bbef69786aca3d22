"""Which channels a component listens to: gradients of the codes with respect to what was measured."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from identica import _observing
from identica._checks import InputError
from identica.encoders import Encoder, rows_at_once
from identica.encoders.units import SMALLEST_WIDTH
from identica.estimator import ContrastiveICA

__all__ = ["Attribution", "attribute"]

_MOST_ROWS = 2000


@final
@dataclass(frozen=True, eq=False)
class Attribution:
    """How much each component moves with each channel.

    Args:
        values: [components, channels], or [components, channels, height, width] of images: by how many of its own
            spreads a component moves, on average over the data, if a channel moves by one of its spreads.
        channels: A name for each channel; none for images.
    """

    values: NDArray[np.float64]
    channels: tuple[str, ...] = ()

    @property
    def of_channels(self) -> NDArray[np.float64]:
        """The mean over components, [channels]: channels that carry no factor come last."""
        mean: NDArray[np.float64] = self.values.mean(axis=0)
        return mean

    def ranked(self, component: int | None = None) -> list[tuple[str, float]]:
        """Names and values of the channels, the strongest first; of one component, or of all together."""
        if not self.channels:
            raise InputError("channels have no ranking in images: look at `values`, a map for each component")
        shown = self.of_channels if component is None else self.values[component]
        return [(self.channels[index], float(shown[index])) for index in np.argsort(-shown, kind="stable")]


def attribute(estimator: ContrastiveICA, X: Any, trials: Any = None) -> Attribution:
    """Input gradients of each component: mean absolute value over the data, in units of spreads.

    The gradient is taken behind the estimator's scaling (a square root of counts has none at 0), and the spread of a
    channel is its standard deviation there. Of a window of several rows, the rows are summed up.

    Args:
        estimator: A fitted `ContrastiveICA`.
        X: Observations, rows or images; at most 2000 of them, evenly spread, are looked at.
        trials: With a window of several rows: a label for each row.

    Example:
        >>> x = np.random.default_rng(0).uniform(size=(500, 3))
        >>> x_pos = x + np.random.default_rng(1).laplace(scale=0.05, size=x.shape)
        >>> attribute(ContrastiveICA(2, max_steps=5, random_state=0).fit(x, x_pos), x).values.shape
        (2, 3)
    """
    check_is_fitted(estimator)
    observed = _observing.observe(estimator, X, reset=False)
    windows = estimator._windows(observed.values, observed.trials(trials))
    scaling, rest = _parted(estimator.encoder_)
    chosen = torch.from_numpy(np.linspace(0, len(windows) - 1, min(len(windows), _MOST_ROWS)).astype(np.int64))
    with torch.no_grad():
        values = scaling(windows[chosen].double())
    sums, codes = _gradients(rest, values)
    spread = codes.std(dim=0).clamp_min(SMALLEST_WIDTH).reshape(-1, *[1] * (sums.ndim - 1))
    means = sums * values.std(dim=0) / spread  # none where a pixel never changes
    found = means.numpy()
    if values.ndim > 2:
        return Attribution(found)
    channels = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None)
    shown = tuple(f"x{index}" for index in range(channels)) if names is None else tuple(map(str, names))
    return Attribution(found.reshape(len(found), -1, channels).sum(axis=1), shown)


def _parted(network: nn.Module) -> tuple[nn.Module, nn.Module]:
    """The scaling, which has no weights, and all that comes behind it; both in double precision."""
    copied = copy.deepcopy(network).double().eval()
    encoder = copied[0] if isinstance(copied, nn.Sequential) else copied
    if not isinstance(encoder, Encoder):
        return nn.Identity(), copied
    scaling, encoder.scaling = encoder.scaling, nn.Identity()
    return scaling, copied


def _gradients(network: nn.Module, values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean absolute gradients [components, …] of the codes, and the codes."""
    total, codes = None, []
    for piece in torch.split(values, rows_at_once(values)):
        inputs = piece.clone().requires_grad_(True)
        found = network(inputs)
        slopes = [
            torch.autograd.grad(found[:, index].sum(), inputs, retain_graph=True)[0].abs().sum(dim=0)
            for index in range(found.shape[1])
        ]
        total = torch.stack(slopes) if total is None else total + torch.stack(slopes)
        codes.append(found.detach())
    assert total is not None
    return total / len(values), torch.cat(codes)
