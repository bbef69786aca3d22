"""Places to write to, checked before any work: what cannot be written in the end is refused at the start."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from identica._checks import InputError

__all__ = ["MODEL_SETTINGS", "check_file", "check_folder", "check_model", "check_model_there", "check_there"]

MODEL_SETTINGS = "model.json"
"""The file that tells the folder of a model from any other."""


def check_file(name: str, path: Path, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or that is there and not to be replaced.

    Args:
        name: What the caller calls it.
        path: Where to write; folders above it that are missing will be made.
        overwrite: Whether an older file may be replaced.
    """
    if os.path.isdir(path):
        raise InputError(f"{name} must be a file, but {str(path)!r} is a folder")
    if os.path.lexists(path) and not overwrite:
        raise InputError(f"{name} must be a new file, but {str(path)!r} is there: --overwrite replaces it")
    _try(name, path)


def check_folder(name: str, path: Path) -> None:
    """Refuse a folder that cannot be made, or cannot be written to if it is there."""
    if os.path.lexists(path) and not os.path.isdir(path):
        raise InputError(f"{name} must be a folder, but {str(path)!r} is a file")
    _try(name, path / "file" if os.path.isdir(path) else path)


def check_model(name: str, path: Path, *, overwrite: bool) -> None:
    """Refuse to replace anything but an older model, that only if asked to, and a place that cannot be written to."""
    if os.path.lexists(path):
        if not os.path.isfile(path / MODEL_SETTINGS):
            raise InputError(f"{name} must be a new folder or an older model, but {str(path)!r} is something else")
        if not overwrite:
            raise InputError(f"{name} must be a new folder, but {str(path)!r} is a model: --overwrite replaces it")
    _try(name, path)


def check_there(name: str, path: Path) -> None:
    """Refuse a file or folder to read that is not there."""
    if not os.path.exists(path):
        raise InputError(f"{name} must be there to be read, but {str(path)!r} does not exist")


def check_model_there(path: Path) -> None:
    """Refuse a folder that is no model."""
    if not os.path.isfile(path / MODEL_SETTINGS):
        raise InputError(f"MODEL must be the folder of a saved model, but {str(path)!r} has no {MODEL_SETTINGS}")


def _try(name: str, path: Path) -> None:
    """Make what is missing above the place, and a neighbour of it as long in name; leave nothing behind."""
    try:
        with _made(path.parent), tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{name} cannot be written to {str(path)!r}: {reason[:1].lower()}{reason[1:]}") from None


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """A folder that is there within the block, and after it if it was there before."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    try:
        for one in reversed(missing):
            one.mkdir()
            made.append(one)
        yield
    finally:
        for one in reversed(made):
            one.rmdir()
