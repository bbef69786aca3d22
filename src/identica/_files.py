"""Files that are either whole or not there and that others may read, and folders that one process writes at a time."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["InUseError", "StorageError", "locked", "made", "replacing", "sync"]

# A full disk or quota, a file that may not grow so large, a disk that takes no writes or fails.
_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
_LOCK = ".lock"


class StorageError(OSError):
    """The disk is full, takes no writes, or fails; the message says which file, and why."""


class InUseError(RuntimeError):
    """Another process writes this folder."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write to a temporary neighbour, which takes the name of `path` only when the block ends well.

    What was written reaches the disk before the name does, so that a power cut leaves the old file or the new one.
    """
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        with _told(path):
            temporary.touch()
            mode = temporary.stat().st_mode & 0o777
            yield temporary
            temporary.chmod(mode)  # some libraries write files that nobody else may read
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def made(folder: Path) -> Path:
    """The folder, made if it is not there."""
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[Path]:
    """Keep other processes from writing a folder; files that a killed process left half written are removed.

    The lock ends with the process, however that ends. Its file is `.lock`; whoever holds it may remove it when
    nothing is left to write.

    Args:
        folder: Made if it is not there.
        wait: Until no other process has the lock, instead of an error at once.
    """
    from filelock import FileLock, Timeout

    path = made(folder) / _LOCK
    lock = FileLock(path, thread_local=False)
    try:
        with _told(path):
            lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        raise InUseError(
            f"another process is writing {str(folder)!r}: wait until it has ended, or choose another folder"
        ) from None
    try:
        for left in folder.glob(".[0-9]*.*"):
            left.unlink(missing_ok=True)
        yield path
    finally:
        lock.release()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if sys.platform == "win32" and path.is_dir():
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Name the file in errors of the disk; other errors stay as they are."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageError) or error.errno not in _REFUSED:
            raise
        raise StorageError(f"{str(path)!r} cannot be written: {error.strerror}") from error
