"""Damaged files for every reader."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from identica._checks import InputError
from torture_samples import TRAPS, Sample, samples

# What a reader may take beyond what the process has already, and for how long.
_MOST_BYTES, _MOST_SECONDS = 2 << 30, 20
_FILES_PER_PROCESS = 100


def torture(folder: Path, count: int, seed: int) -> dict[str, Any]:
    """Damage samples in turn and read them, some in each process."""
    folder.mkdir(parents=True)
    trap = folder / "code was run"
    found = samples(folder / "samples", trap)
    totals: dict[str, Any] = {"files": 0, "refused": 0, "read": 0, "peak_memory_mb": 0.0, "failures": []}
    for sample in found:  # what is whole must be read, and what holds code must not
        kind, text = read(sample.read, sample.folder, sample.name)
        if kind != ("refused" if sample.name in TRAPS else "read"):
            totals["failures"].append(f"{sample.name}, before it was damaged: {kind} {text}")
    done = 0
    while done < count:
        numbers = range(done, min(count, done + _FILES_PER_PROCESS))
        done += _batch(folder, found, numbers, seed, totals)
        if trap.exists():
            totals["failures"].append(f"code in a file was run, before file {done}")
            trap.unlink()
    _bombs(folder / "bombs", totals)
    return totals


def _batch(folder: Path, found: list[Sample], numbers: range, seed: int, totals: dict[str, Any]) -> int:
    """Read so many damaged files in a process of their own; if it dies, the file it died of is a failure."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiver)
        _limit()
        with os.fdopen(sender, "w") as said:
            for number in numbers:
                signal.alarm(_MOST_SECONDS)
                said.write(json.dumps(_one(folder / "damaged", found[number % len(found)], number, seed)) + "\n")
                said.flush()
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver) as heard:
        told = [json.loads(line) for line in heard]
    _, status, usage = os.wait4(child, 0)
    totals["peak_memory_mb"] = max(totals["peak_memory_mb"], usage.ru_maxrss / 1024)
    for kind, text in told:
        totals["files"] += 1
        if kind == "failure":
            totals["failures"].append(text)
        else:
            totals[kind] += 1
    if status == 0:
        return len(told)
    number = numbers[len(told)]
    totals["files"] += 1
    sample = found[number % len(found)]
    totals["failures"].append(f"{sample.name}, file {number}: its reader ended the process ({status})")
    return len(told) + 1


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + _MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _one(folder: Path, sample: Sample, number: int, seed: int) -> tuple[str, str]:
    """Damage one file of a sample and read it: `read`, `refused`, or `failure` with what was raised."""
    chance = random.Random(f"{seed}/{number}")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample.folder, folder)
    path = folder / chance.choice(sample.files)
    path.write_bytes(damaged(path.read_bytes(), chance))
    return read(sample.read, folder, f"{sample.name}, file {number}, {path.name}")


def read(reader: Callable[[Path], Any], folder: Path, label: str) -> tuple[str, str]:
    """What comes of reading a folder."""
    try:
        reader(folder)
    except InputError as error:
        return ("refused", "") if str(error) else ("failure", f"{label}: an error without words")
    except Exception as error:
        return "failure", f"{label}: {type(error).__name__}: {str(error)[:200]}"
    return "read", ""


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The same bytes with one to four injuries."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(len(made) + 1)
        length = chance.choice((1, 2, 4, 8, 64))
        kind = chance.randrange(8)
        if kind == 0:
            del made[place:]
        elif kind == 1:
            del made[place : place + length]
        elif kind == 2:
            made[place:place] = chance.randbytes(length)
        elif kind == 3:
            made[place : place + length] = chance.choice((b"\x00", b"\xff", b"9", b"-", b"\n", b'"')) * length
        elif kind == 4:
            made[place:place] = made[place : place + 512]
        elif kind == 5:
            made[place : place + 8] = struct.pack("<q", chance.choice((-1, 1 << 31, 1 << 40, 1 << 62)))
        elif kind == 6:
            made[place:place] = chance.choice((b"1e999", b"nan", b"99999999999999999999", b"{", b"[[[[", b"null"))
        elif made:
            made[place % len(made)] ^= 1 << chance.randrange(8)
    return bytes(made)


def _bombs(folder: Path, totals: dict[str, Any]) -> None:
    """Small files that claim to be large ones."""
    from identica.datafiles import read_dataset

    folder.mkdir()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 37, 1)})
    with zipfile.ZipFile(folder / "claims.npz", "w") as archive:  # a terabyte
        archive.writestr("x.npy", header.getvalue() + bytes(1000))
    (folder / "claims.npy").write_bytes(header.getvalue() + bytes(1000))
    with (
        zipfile.ZipFile(folder / "zeros.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (3 << 27, 1)})
        for _ in range(3 << 6):
            file.write(bytes(1 << 24))
    images = folder / "images"
    images.mkdir()
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(bytes(1000)))]
    bodies = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in [*chunks, (b"IEND", b"")]
    ]
    (images / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(bodies))
    found = [
        Sample(path.name, folder, (), lambda _, path=path: read_dataset(path))
        for path in (folder / "claims.npz", folder / "claims.npy", folder / "zeros.npz", images)
    ]
    for sample in found:
        _bomb(sample, totals)


def _bomb(sample: Sample, totals: dict[str, Any]) -> None:
    child = os.fork()
    if child == 0:
        _limit()
        signal.alarm(3 * _MOST_SECONDS)
        os._exit(0 if read(sample.read, sample.folder, sample.name)[0] == "refused" else 1)
    _, status, usage = os.wait4(child, 0)
    totals["peak_memory_mb"] = max(totals["peak_memory_mb"], usage.ru_maxrss / 1024)
    totals["files"] += 1
    if status == 0:
        totals["refused"] += 1
    else:
        totals["failures"].append(f"{sample.name}: a bomb was not refused ({status})")
