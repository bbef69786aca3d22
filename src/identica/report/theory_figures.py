"""Pictures of the paper's statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica.report._canvas import canvas, save_picture
from identica.theory import Limit, Volume

__all__ = ["plot_limit", "plot_similarities", "plot_volumes"]

_SHOWN_POINTS = 2000
_COLUMNS = 3
_RATIOS = 1e-3, 1e2
_BINS = 100


def plot_limit(limits: Sequence[Limit], path: Path) -> None:
    """The gap between loss and cross-entropy against the number of negatives, with confidence bands; a panel a law.

    Args:
        limits: Cases named `LAW, MAP`; those of one law share a panel.
        path: The picture, .png, .pdf or .svg.
    """
    laws: dict[str, list[Limit]] = {}
    for limit in limits:
        laws.setdefault(limit.case.rpartition(", ")[0], []).append(limit)
    rows = -(-len(laws) // _COLUMNS)
    with canvas(2.6 * _COLUMNS, 2.1 * rows) as figure:
        for axes, (law, group) in zip(_panels(figure, len(laws)), laws.items(), strict=True):
            for limit in group:
                sizes, gaps, bands = (np.array(values) for values in (limit.negatives, limit.gaps, limit.bands))
                axes.plot(sizes, gaps, linewidth=1, label=limit.case.rpartition(", ")[2])
                axes.fill_between(sizes, gaps - bands, gaps + bands, alpha=0.25)
            axes.axhline(0, color="0.6", linewidth=0.6)
            axes.set_xscale("log", base=2)
            axes.set_title(law.replace(" in ", "\nin ", 1), fontsize=8)
            axes.set_xlabel("negatives M")
            axes.set_ylabel("gap in nats")
            axes.legend(frameon=False)
        save_picture(figure, path)


def plot_similarities(
    pairs: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]], slopes: Mapping[str, float | None], path: Path
) -> None:
    """φ between codes against φ between latents, a panel a run; a dashed line where the slope is the matched one.

    Args:
        pairs: By the name of a run, what `identica.theory.similarities` gave.
        slopes: What `Similarity.matched_slope` gave.
        path: The picture, .png, .pdf or .svg.
    """
    with canvas(2.6 * min(_COLUMNS, len(pairs)), 2.4 * -(-len(pairs) // _COLUMNS)) as figure:
        for axes, (name, (of_latents, of_codes)) in zip(_panels(figure, len(pairs)), pairs.items(), strict=True):
            axes.plot(of_latents[:_SHOWN_POINTS], of_codes[:_SHOWN_POINTS], ".", markersize=1, alpha=0.5)
            slope = slopes[name]
            if slope is not None:
                ends = np.array([of_latents.min(), of_latents.max()])
                axes.plot(ends, slope * ends, "--", color="black", linewidth=0.8, label=f"slope {slope:g}")
                axes.legend(frameon=False)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("φ between factors")
            axes.set_ylabel("φ between codes")
        save_picture(figure, path)


def plot_volumes(volumes: Mapping[str, Volume], path: Path) -> None:
    """How volume ratios are spread, a curve a map.

    Args:
        volumes: By name.
        path: The picture, .png, .pdf or .svg.
    """
    with canvas(4.4, 2.6) as figure:
        axes = figure.subplots()
        for name, volume in volumes.items():
            logs = np.log10(np.clip(volume.ratios.numpy(), *_RATIOS))
            turned = f", {100 * volume.turned:.1f} % turned over"
            axes.hist(
                logs,
                bins=_BINS,
                range=(float(np.log10(_RATIOS[0])), float(np.log10(_RATIOS[1]))),
                histtype="step",
                density=True,
                label=name + turned,
            )
        axes.set_xlabel("log₁₀ of the volume ratio, cut off at both ends")
        axes.set_ylabel("density")
        axes.legend(frameon=False)
        save_picture(figure, path)


def _panels(figure: Any, count: int) -> list[Any]:
    rows, columns = -(-count // _COLUMNS), min(_COLUMNS, count)
    every = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in every[count:]:
        axes.set_axis_off()
    return every[:count]
