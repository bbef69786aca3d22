"""Lists of partners: two file names or two row numbers a line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles._images import IMAGES
from identica.datafiles._sources import file_suffix, reading

__all__ = ["read_file_pairs", "read_row_pairs"]


def read_file_pairs(path: Path, files: Sequence[str]) -> NDArray[np.int64]:
    """Pairs of file names, as places in `files`; a first line that names no images is a header."""
    places = {name: place for place, name in enumerate(files)}

    def place(line: int, entry: str) -> int:
        if entry not in places:
            raise InputError(f"line {line} of {str(path)!r} must name images of the folder, got {entry!r}")
        return places[entry]

    lines = list(_lines(path))
    # A misspelt image in the first line is a mistake, not a header.
    if lines and not any(entry in places or entry.lower().endswith(IMAGES) for entry in lines[0][1]):
        del lines[0]
    return _stacked(path, [[place(line, entry) for entry in entries] for line, entries in lines])


def read_row_pairs(path: Path, samples: int) -> NDArray[np.int64]:
    """Pairs of row numbers, counted from 0; a first line without numbers is a header."""

    def row(line: int, entry: str) -> int:
        value = _number(entry)
        if value is None or not (value.is_integer() and 0 <= value < samples):
            raise InputError(
                f"line {line} of {str(path)!r} must hold whole row numbers from 0 to {samples - 1}, got {entry!r}"
            )
        return int(value)

    lines = list(_lines(path))
    if lines and all(_number(entry) is None for entry in lines[0][1]):
        del lines[0]
    return _stacked(path, [[row(line, entry) for entry in entries] for line, entries in lines])


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Numbers of lines, counted from 1 as editors do, and their two entries."""
    suffix = file_suffix("pairs", path, (".csv", ".tsv"))
    with reading(path, csv.Error), path.open(newline="", encoding="utf-8-sig") as stream:
        lines = csv.reader(stream, delimiter="\t" if suffix == ".tsv" else ",")
        for entries in lines:
            stripped = [entry.strip() for entry in entries]
            if not any(stripped):
                continue
            if len(stripped) != 2:
                raise InputError(f"line {lines.line_num} of {str(path)!r} must have 2 entries, got {len(stripped)}")
            yield lines.line_num, stripped


def _number(entry: str) -> float | None:
    try:
        return float(entry)
    except ValueError:
        return None


def _stacked(path: Path, pairs: list[list[int]]) -> NDArray[np.int64]:
    if not pairs:
        raise InputError(f"pairs must name at least one pair, got none in {str(path)!r}")
    return np.array(pairs, dtype=np.int64)
