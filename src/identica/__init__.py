"""Recover the hidden factors behind data by contrastive learning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from identica.estimator import ContrastiveICA as ContrastiveICA
    from identica.validation import consistency as consistency
    from identica.validation import select as select

__version__ = "0.1.0"

__all__ = ["ContrastiveICA", "__version__", "consistency", "select"]

# Imported when first asked for: they bring scikit-learn and torch along.
_WHERE = {"ContrastiveICA": "identica.estimator", "consistency": "identica.validation", "select": "identica.validation"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'identica' has no attribute {name!r}: it has {', '.join(__all__)}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
