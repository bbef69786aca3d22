"""Appendix A.5: what a map does to volumes. One that spreads codes out regularly loses none, and turns none over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from identica._checks import InputError
from identica.spaces import Space, Sphere

__all__ = ["Volume", "measure_volume"]

_ROWS_AT_ONCE = 256
# Part of their mean by which the norms of points on a sphere may differ.
_ROUND = 1e-3


@final
@dataclass(frozen=True)
class Volume:
    """The volume ratio of h over the support of the latents: by how much it stretches a small volume at z.

    Args:
        ratios: |det J_h(z)|, in units of their median: 1 everywhere for a map that keeps volumes up to a constant. On a
            sphere J_h acts between tangent planes, and ratios are those of areas, with nothing taken out.
        turned: The part of latents at which h does not have the commoner of its two orientations: 0 for a smooth map
            of which no Jacobian vanishes.
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
        space: Of the latents. If it is a sphere, codes must lie on one around the origin, of any radius; otherwise not.

    Example:
        >>> from identica.spaces import Box
        >>> points = Box(2).uniform(100, torch.Generator().manual_seed(0))
        >>> measure_volume(lambda z: torch.stack([3 * z[:, 1], z[:, 0]], dim=1), points, Box(2)).summary()["at 99 %"]
        1.0
    """
    space.check("latents", latents)
    if len(latents) == 0:
        raise InputError("latents must hold at least one row, got none")
    on_sphere = isinstance(space, Sphere)
    _check_codes(h, latents, on_sphere)

    def one(point: Tensor) -> Tensor:
        if not on_sphere:
            return h(point[None])[0]
        # The map of cones has one direction more, along which it does nothing: its determinant is that on the sphere.
        radius = point.norm()
        return radius * torch.nn.functional.normalize(h((point / radius)[None])[0], dim=0)

    jacobians = [torch.func.vmap(torch.func.jacrev(one))(part) for part in torch.split(latents, _ROWS_AT_ONCE)]
    signs, logs = torch.linalg.slogdet(torch.cat(jacobians).detach().double())
    unit = logs.median()
    ratios = (logs if on_sphere or not torch.isfinite(unit) else logs - unit).exp()
    return Volume(ratios, 1 - max(float((signs == sign).double().mean()) for sign in (1, -1)))


def _check_codes(h: Callable[[Tensor], Tensor], latents: Tensor, on_sphere: bool) -> None:
    with torch.no_grad():
        codes = h(latents)
    if codes.shape != latents.shape:
        raise InputError(f"h must give {latents.shape[1]} codes, got {codes.shape[1]}")
    norms = codes.norm(dim=1)
    is_round = bool((norms - norms.mean()).abs().max() <= _ROUND * norms.mean())
    if on_sphere and not is_round:
        raise InputError("h must map a sphere onto a sphere, but its codes have different norms")
    if not on_sphere and is_round and bool((codes - codes[0]).abs().max() > 0):
        raise InputError("h must not map onto a sphere from another space: it has no volume there")
