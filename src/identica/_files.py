"""Files that are either whole or not there, and that others may read as the umask says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write to a temporary neighbour, which takes the name of `path` only when the block ends well."""
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        temporary.touch()
        mode = temporary.stat().st_mode & 0o777
        yield temporary
        temporary.chmod(mode)  # some libraries write files that nobody else may read
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
