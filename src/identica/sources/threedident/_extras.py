"""Libraries that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from identica._checks import InputError
from identica._install import how_to_install

__all__ = ["library"]


def library(module: str, purpose: str, name: str) -> Any:
    """The module of a library, or an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{purpose} needs {name}: {how_to_install('images')}") from None
