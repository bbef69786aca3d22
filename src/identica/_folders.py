"""Where data sets, and what is computed from them once, are kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder", "data_folder"]


def data_folder() -> Path:
    """The folder of data sets: the environment variable `IDENTICA_DATA`, or the user's cache folder."""
    named = os.environ.get("IDENTICA_DATA")
    return Path(named) if named else cache_folder()


def cache_folder() -> Path:
    """The user's cache folder, for what can be computed again."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("identica"))
