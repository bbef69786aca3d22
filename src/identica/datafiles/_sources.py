"""Opening what others wrote: missing files, missing libraries and broken files become one clear line."""

from __future__ import annotations

import difflib
import importlib
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from identica._checks import InputError
from identica._install import how_to_install

__all__ = ["file_suffix", "files_in", "known_suffix", "library", "listing", "member", "one_line", "reading"]


def file_suffix(name: str, path: Path, allowed: Sequence[str], instead: str = "") -> str:
    """The suffix of an existing file, if it is one of `allowed`; `instead` names what else would do."""
    # The functions of os.path answer where the methods of Path raise: forbidden folders, names that are too long.
    if not os.path.exists(path):
        raise InputError(f"{name} must be there to be read, but {str(path)!r} does not exist")
    if not os.path.isfile(path):
        raise InputError(f"{name} must be a file, got {str(path)!r}, which is not one")
    return known_suffix(name, path, allowed, instead)


def known_suffix(name: str, path: Path, allowed: Sequence[str], instead: str = "") -> str:
    """The suffix of `path` in small letters, if it is one of `allowed`."""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        found = f"suffix {suffix!r}" if suffix else "no suffix"
        raise InputError(f"{name} must {instead}end in {', '.join(allowed)}, got {str(path)!r} with {found}")
    return suffix


def files_in(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """Files directly in a folder that end in one of `suffixes`, in natural order."""
    with reading(folder):
        # Names with a leading dot are what systems leave beside the user's own files.
        paths = [path for path in folder.iterdir() if path.suffix.lower() in suffixes and path.name[0] != "."]
    return sorted(paths, key=_natural)


def _natural(path: Path) -> tuple[list[str | int], str]:
    """Order that counts numbers as numbers: img2 before img10."""
    parts = re.split(r"([0-9]+)", path.name.lower())
    return [int(part) if index % 2 else part for index, part in enumerate(parts)], path.name


def library(module: str, task: str, package: str | None = None) -> ModuleType:
    """Import a library that only some formats need; `task` is what for, such as "reading .csv"."""
    try:
        return importlib.import_module(module)
    except ImportError:
        needed = package or module.partition(".")[0]
        raise InputError(f"{task} needs {needed}: {how_to_install('files')}") from None


@contextmanager
def reading(path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Turn what a reader raises over a broken file into one line that names the file."""
    broken: tuple[type[Exception], ...] = (OSError, ValueError, MemoryError, *errors)
    try:
        yield
    except InputError:
        raise
    except broken as error:
        kind = f" as {path.suffix.lower()}" if path.suffix else ""
        raise InputError(f"{str(path)!r} cannot be read{kind}: {one_line(error)}") from None


def one_line(error: Exception) -> str:
    """The message of an error without its line breaks, or its name where it has no message."""
    return " ".join(str(error).split()) or type(error).__name__


def member(kind: str, name: str, path: Path, found: Collection[str]) -> str:
    """Return `name` if the file has such a part; otherwise list those it has."""
    if name in found:
        return name
    near = difflib.get_close_matches(name, found, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"{str(path)!r} has no {kind} {name!r}: {hint}it has {listing(found)}")


def listing(names: Collection[str], most: int = 20) -> str:
    """Names in one line; a wide table does not fill the screen."""
    shown = ", ".join([*map(repr, names)][:most]) or "none"
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
