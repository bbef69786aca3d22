"""Figures for print: one style, and files that are never half written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from identica._checks import InputError
from identica._files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["canvas", "check_picture", "save_picture"]

_SUFFIXES = (".png", ".pdf", ".svg")


def check_picture(name: str, path: Path) -> Path:
    """Return `path` if a picture can be written there; otherwise raise, naming the argument."""
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{name} must end in one of {', '.join(_SUFFIXES)}, got {str(path)!r}")
    return path


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """An empty figure of so many inches, in the style of all others."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure; its kind is that of the name."""
    check_picture("path", path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)
