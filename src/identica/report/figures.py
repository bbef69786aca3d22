"""Pictures of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from identica.metrics import mcc
from identica.report._canvas import canvas, save_picture

__all__ = ["plot_factors"]

_SHOWN_POINTS = 1500


def plot_factors(latents: Any, codes: Any, path: Path, title: str = "") -> None:
    """Each true factor against the code that recovers it, as a picture at `path` (.png, .pdf or .svg)."""
    latents, codes = np.asarray(latents), np.asarray(codes)
    score = mcc(latents, codes)
    assert score.assignment is not None
    factors = latents.shape[1]
    columns = min(5, factors)
    rows = -(-factors // columns)
    with canvas(2.0 * columns, 2.0 * rows + 0.4) as figure:
        grid = figure.subplots(rows, columns, squeeze=False)
        for index, axes in enumerate(grid.flat):
            if index >= factors or score.assignment[index] < 0:
                axes.set_axis_off()
                continue
            code = score.assignment[index]
            axes.plot(latents[:_SHOWN_POINTS, index], codes[:_SHOWN_POINTS, code], ".", markersize=1.5, alpha=0.5)
            axes.set_title(f"|r| = {score.per_factor[index]:.3f}", fontsize=8)
            axes.set_xlabel(f"true factor {index + 1}")
            axes.set_ylabel(f"code {code + 1}")
        figure.suptitle(title)
        save_picture(figure, path)
