"""Where data sets are kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["data_folder"]


def data_folder() -> Path:
    """The folder of data sets: the environment variable `IDENTICA_DATA`, or the user's cache folder."""
    named = os.environ.get("IDENTICA_DATA")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("identica"))
