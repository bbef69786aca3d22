"""Data sets from the network: fetched under a temporary name, and kept only if their checksum is right."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from identica import _checks
from identica._checks import InputError
from identica._files import replacing

__all__ = ["DOWNLOADS", "Download", "download", "fetch"]

_PIECE = 1 << 20
_SECONDS = 60


@final
@dataclass(frozen=True)
class Download:
    """A file that can be fetched.

    Args:
        url: Where it is.
        path: Where it goes.
        md5: Its MD5 checksum; None if none is known.
    """

    url: str
    path: Callable[[], Path]
    md5: str | None = None


def _place(name: str) -> Path:
    """Where a source looks for its data."""
    from identica import sources

    path: Path = getattr(sources, name)().path
    return path


DOWNLOADS = {
    "dsprites": Download(
        "https://github.com/google-deepmind/dsprites-dataset/raw/master/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
        lambda: _place("DSprites"),
        # As vaetc (github.com/ganmodokix/vaetc) and regsets (github.com/pm25/Regression-Datasets) pin it.
        "7da33b31b13a06f4b04a70402ce90c2e",
    ),
    # Its authors' record, https://zenodo.org/records/3948069, shows a checksum; none is pinned here.
    "natural-sprites": Download(
        "https://zenodo.org/record/3948069/files/downscale_keepaspect.csv?download=1", lambda: _place("NaturalSprites")
    ),
    # Likewise https://zenodo.org/records/3931823.
    "kitti-masks": Download(
        "https://zenodo.org/record/3931823/files/kitti_peds_v2.pickle?download=1", lambda: _place("KittiMasks")
    ),
}
"""The files of data sets, by the names that the command line gives them."""

Report = Callable[[int, int | None], None]


def download(name: str, *, sha256: str | None = None, report: Report | None = None) -> tuple[Path, str]:
    """Fetch a data set into the folder of data sets, unless it is there already.

    Args:
        name: One of `DOWNLOADS`.
        sha256: A checksum that the file must have, besides the one that is pinned here; a must where none is.
        report: Is called with the bytes that came so far, and with how many there are if the server says so.

    Returns:
        Where the file is, and its SHA-256 checksum.
    """
    chosen = DOWNLOADS[_checks.choice("data set", name, DOWNLOADS)]
    if chosen.md5 is None and sha256 is None:
        raise InputError(
            f"no checksum of {name!r} is pinned here, and without one nothing is fetched: "
            f"give --sha256, of a file from {chosen.url} that you trust"
        )
    return chosen.path(), fetch(chosen.url, chosen.path(), md5=chosen.md5, sha256=sha256, report=report)


def fetch(
    url: str, path: Path, *, md5: str | None = None, sha256: str | None = None, report: Report | None = None
) -> str:
    """Fetch one file, unless it is there already; its SHA-256 checksum.

    Args:
        url: Where it is.
        path: Where it goes, once it is whole and its checksums are right.
        md5: Checksum that it must have, if given.
        sha256: Likewise.
        report: Is called with the bytes that came so far, and with how many there are if the server says so.
    """
    wanted = {kind: value.lower() for kind, value in (("md5", md5), ("sha256", sha256)) if value is not None}
    for kind, value in wanted.items():
        digits = 2 * hashlib.new(kind, usedforsecurity=False).digest_size
        if not re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
            raise InputError(f"{kind} must be {digits} hexadecimal digits, got {value!r}")
    if path.exists():
        return _compare(f"{str(path)!r} is there already, but it", _checksums(path), wanted)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            _copy(url, unfinished, report)
            return _compare(f"what came from {url}", _checksums(unfinished), wanted)
    except InputError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise InputError(f"{url} cannot be fetched: {' '.join(str(reason).split()) or type(error).__name__}") from None


def _copy(url: str, path: Path, report: Report | None) -> None:
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer, path.open("wb") as file:
        length = answer.headers.get("Content-Length", "")
        expected, came = int(length) if length.isdigit() else None, 0
        while piece := answer.read(_PIECE):
            file.write(piece)
            came += len(piece)
            if report is not None:
                report(came, expected)
    if expected is not None and came != expected:
        raise InputError(f"{url} cannot be fetched: the connection ended after {came} of {expected} bytes")


def _checksums(path: Path) -> dict[str, str]:
    found = {}
    for kind in ("md5", "sha256"):
        with path.open("rb") as stream:
            found[kind] = hashlib.file_digest(stream, partial(hashlib.new, kind, usedforsecurity=False)).hexdigest()
    return found


def _compare(what: str, found: dict[str, str], wanted: dict[str, str]) -> str:
    for kind, value in wanted.items():
        if found[kind] != value:
            raise InputError(f"{what} has another {kind}: expected {value}, got {found[kind]}; it is not used")
    return found["sha256"]
