"""Figure 3 as a picture: a column for each latent of 3DIdent, and below it what an encoder recovers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from identica.experiments import Recovered, Traversal
from identica.rendering.latents import LATENTS
from identica.report._canvas import canvas, save_picture

__all__ = ["draw_figure3", "summarise_figure3"]

_INCHES = 0.72


def summarise_figure3(traversal: Traversal, recovered: Recovered | None = None) -> dict[str, Any]:
    """What the figure shows beside images, as plain data: for each latent its values and the recovered component."""
    found: list[dict[str, Any]] = [{"latent": name} for name in LATENTS]
    if recovered is not None:
        for latent, one in enumerate(found):
            one |= {
                "component": recovered.components[latent] + 1,
                "recovered": [round(float(value), 4) for value in recovered.along(latent)],
                "mcc": recovered.mcc[latent],
            }
    run = {} if recovered is None else {"run": recovered.run}
    values = [round(float(value), 4) for value in traversal.values]
    return {"images": traversal.how, **run, "values": values, "latents": found}


def draw_figure3(traversal: Traversal, path: Path, recovered: Recovered | None = None) -> None:
    """Images along each latent, from -1 (top) to 1, as a picture at `path` (.png, .pdf or .svg).

    Args:
        traversal: Images along each latent.
        path: Where to write.
        recovered: If given, a chart below each column: the assigned component against the latent, and all others grey.
    """
    columns, steps = traversal.images.shape[:2]
    rows = steps + (2 if recovered is not None else 0)
    with canvas(_INCHES * columns + 0.6, _INCHES * rows + 0.4) as figure:
        grid = figure.add_gridspec(rows, columns)
        for column, name in enumerate(LATENTS):
            for step in range(steps):
                axes = figure.add_subplot(grid[step, column])
                axes.imshow(traversal.images[column, step])
                axes.set(xticks=[], yticks=[])
                axes.spines[:].set_visible(False)
                if step == 0:
                    axes.set_title(name.replace(" ", "\n"), fontsize=8)
                if column == 0:
                    axes.set_ylabel(f"{traversal.values[step]:z.2f}", rotation=0, ha="right", va="center")
            if recovered is not None:
                _chart(figure.add_subplot(grid[steps:, column]), traversal, recovered, column)
        save_picture(figure, path)


def _chart(axes: Any, traversal: Traversal, recovered: Recovered, latent: int) -> None:
    """Components along one latent."""
    scaled, assigned = recovered.scaled[latent], recovered.components[latent]
    for component in range(scaled.shape[1]):
        if component != assigned:
            axes.plot(traversal.values, scaled[:, component], color="0.8", linewidth=0.7)
    if assigned >= 0:
        axes.plot(traversal.values, scaled[:, assigned], ".-", markersize=3, linewidth=1, color="tab:blue")
        axes.set_title(f"component {assigned + 1}\n|r| = {recovered.mcc[latent] / 100:.2f}", fontsize=6)
    axes.set(xlim=(-1.1, 1.1), ylim=(-0.1, 1.1), xticks=[-1, 1], yticks=[])
    if latent == 0:
        axes.set_ylabel("recovered")
