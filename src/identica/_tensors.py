"""Named tensors in one file, with a checksum: never code, and never half of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from identica._checks import InputError
from identica._files import StorageError, replacing

__all__ = ["load_tensors", "save_tensors"]

_DIGEST = "sha256"


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors, and words about them, into one file."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    words = dict(metadata or {})
    with replacing(path) as unfinished:
        try:
            save_file(plain, unfinished, metadata=words | {_DIGEST: _digest(plain, words)})
        except SafetensorError as error:  # it hides the error of the disk
            raise StorageError(f"{str(path)!r} cannot be written: {error}") from None


def load_tensors(path: Path, *, sealed: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What `save_tensors` wrote, on the CPU; an error if the file is cut short or altered.

    Args:
        path: Of the file.
        sealed: Whether it must have a checksum; files of older versions have none.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            words = dict(file.metadata() or {})
    except (OSError, SafetensorError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{str(path)!r} cannot be read as tensors: {reason}") from None
    expected = words.pop(_DIGEST, None)
    if sealed and expected is None:
        raise InputError(f"{str(path)!r} has no checksum: it was altered, or written by an older version")
    if expected is not None and expected != _digest(tensors, words):
        raise InputError(f"{str(path)!r} was altered after it was written: its checksum does not match")
    return tensors, words


def _digest(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> str:
    """A hash of all that the file holds."""
    found = hashlib.sha256(repr(sorted(words.items())).encode())
    for name in sorted(tensors):
        value = tensors[name]
        found.update(f"{name} {value.dtype} {list(value.shape)}".encode())
        if value.numel():
            found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
