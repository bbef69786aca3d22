"""How to install what only some parts need; no index has the package, so it comes from a clone or a wheel."""

from __future__ import annotations

__all__ = ["how_to_install"]


def how_to_install(extra: str) -> str:
    """The command that installs an extra, as errors and pages have it."""
    return f"pip install '.[{extra}]' in a clone of identica, or pip install 'FILE.whl[{extra}]' with its wheel"
