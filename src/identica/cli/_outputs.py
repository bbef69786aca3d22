"""Places that commands write to, checked before any work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from identica._checks import InputError
from identica._places import check_file, check_model

__all__ = ["check_outputs", "check_page", "check_picture", "say_replaced"]

_PICTURES = (".png", ".pdf", ".svg")


def check_outputs(out: Path, report: Path | None, *, overwrite: bool) -> None:
    """Of a fit: the folder of its model, and its page."""
    check_model("--out", out, overwrite=overwrite)
    if report is not None:
        check_page(report, overwrite=overwrite)
    say_replaced(out, report)


def check_page(path: Path, *, overwrite: bool) -> None:
    """A page of HTML."""
    if path.suffix != ".html":
        raise InputError(f"--report must end in .html, got {str(path)!r}")
    check_file("--report", path, overwrite=overwrite)


def check_picture(path: Path | None, *, overwrite: bool) -> None:
    """A picture, if one is to be drawn."""
    if path is None:
        return
    if path.suffix.lower() not in _PICTURES:
        raise InputError(f"--picture must end in one of {', '.join(_PICTURES)}, got {str(path)!r}")
    check_file("--picture", path, overwrite=overwrite)
    say_replaced(path)


def say_replaced(*paths: Path | None) -> None:
    """Name what will be replaced."""
    for path in paths:
        if path is not None and os.path.lexists(path):
            print(f"identica: {str(path)!r} will be replaced", file=sys.stderr)
