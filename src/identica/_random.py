"""One way to derive randomness from a seed."""

from __future__ import annotations

import hashlib

from torch import Generator

__all__ = ["random_stream"]


def random_stream(seed: int, purpose: str, device: str = "cpu") -> Generator:
    """Independent randomness for each purpose of a seed, such as `mixing`, `whitening`, `weights` or `batches`."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return Generator(device).manual_seed(int.from_bytes(digest[:4], "big"))
