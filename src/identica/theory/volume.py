"""Appendix A.5: what a map does to volumes. A bijection turns none of them to zero, and none of them over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from identica import _checks
from identica._checks import InputError
from identica.spaces import Space, Sphere

__all__ = ["Volume", "measure_volume"]

_ROWS_AT_ONCE = 256


@final
@dataclass(frozen=True)
class Volume:
    """The volume ratio of h over the support of the latents: by how much it stretches a small volume at z.

    Args:
        ratios: |det J_h(z)|, in units of their median: 1 everywhere for a map that keeps volumes up to a constant. On a
            sphere J_h acts between tangent planes, and ratios are those of areas, with nothing taken out.
        turned: The part of latents at which h has the rarer of its two orientations, 0 for a bijection.
    """

    ratios: Tensor
    turned: float

    def summary(self) -> dict[str, Any]:
        """Quantiles of the ratio, and what is turned over in percent."""
        low, middle, high = torch.quantile(self.ratios, self.ratios.new_tensor([0.01, 0.5, 0.99])).tolist()
        return {
            "ratio at 1 %": round(low, 3),
            "median": round(middle, 3),
            "at 99 %": round(high, 3),
            "turned over": round(100 * self.turned, 2),
        }


def measure_volume(h: Callable[[Tensor], Tensor], latents: Tensor, space: Space) -> Volume:
    """Measure the volume ratio of h at each latent by its Jacobian.

    Args:
        h: From latents to as many codes, differentiable, each row by itself.
        latents: Where to measure, [count, N].
        space: Of the latents. On a sphere codes are taken as points of a sphere too, whatever its radius.

    Example:
        >>> from identica.spaces import Box
        >>> points = torch.rand(100, 2)
        >>> measure_volume(lambda z: torch.stack([3 * z[:, 1], z[:, 0]], dim=1), points, Box(2)).summary()["at 99 %"]
        1.0
    """
    _checks.columns("latents", latents, space.dim)
    on_sphere = isinstance(space, Sphere)

    def one(point: Tensor) -> Tensor:
        if not on_sphere:
            return h(point[None])[0]
        # The map of cones has one direction more, along which it does nothing: its determinant is that on the sphere.
        radius = point.norm()
        return radius * torch.nn.functional.normalize(h((point / radius)[None])[0], dim=0)

    jacobians = [torch.func.vmap(torch.func.jacrev(one))(part) for part in torch.split(latents, _ROWS_AT_ONCE)]
    if jacobians[0].shape[1:] != (space.dim, space.dim):
        raise InputError(f"h must give {space.dim} codes, got {jacobians[0].shape[1]}")
    signs, logs = torch.linalg.slogdet(torch.cat(jacobians).detach().double())
    ratios = (logs if on_sphere else logs - logs.median()).exp()
    right = float((signs > 0).double().mean())
    return Volume(ratios, min(right, 1 - right))
