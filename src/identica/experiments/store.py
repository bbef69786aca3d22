"""Records of finished runs on disk: one folder a run, named by a hash of its settings."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from identica._checks import InputError
from identica._files import locked, made, replacing
from identica._tensors import load_tensors, save_tensors

__all__ = ["RECORD_FORMAT", "Record", "RunStore"]

Record = dict[str, Any]
"""What a run gave, as JSON has it: settings, scores and the training curve."""

RECORD_FORMAT = 2
"""What records of this version look like."""

_RECORD, _COST, _CODES, _LEARNER = "record.json", "cost.json", "codes.npz", "learner.safetensors"
_CHECKPOINT, _CHECKPOINTS = "checkpoint.safetensors", "checkpoint*.safetensors"
# What tables and pages need, and of which type.
_RECORD_HAS: dict[str, type] = dict.fromkeys(
    ("kind", "source", "learner", "description", "identified_up_to", "baseline", "protocol"), str
)
_RECORD_HAS |= {"factors": list, "curve": list, "scores": dict, "identity": dict, "settings": dict, "fitted": dict}
_RECORD_HAS |= {"steps": int, "seed": int}
_COST_HAS: dict[str, type] = {"seconds": float, "machine": dict}
# In `cost.json`: hashes of the record that belongs to it, or of two while one takes the place of the other.
_DIGESTS = "record_sha256"


@final
class RunStore:
    """A folder of runs.

    A run's folder holds `record.json` (settings, scores, curve, versions: the same bytes whenever the same seed runs
    again on one machine), `cost.json` (seconds, peak memory, machine), `codes.npz` (factors and codes of the
    evaluation, and some observations), `learner.safetensors`, and while it trains `checkpoint.safetensors`. A run is
    finished when its record exists; the record is written last. One process at a time writes a run's folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InputError(f"the store must be a folder, but {self.root} is a file")

    def load(self, name: str) -> Record | None:
        """The record of a finished run with its cost, or None; an error if it is damaged."""
        folder = self.root / name
        if not (folder / _RECORD).exists():
            return None
        record, digest = _read(folder / _RECORD)
        found = _inner(record, "settings").get("format")
        if found != RECORD_FORMAT:
            raise InputError(f"{folder / _RECORD} must be of format {RECORD_FORMAT}, got {found!r}: train it anew")
        cost, _ = _read(folder / _COST)
        if str(digest) not in str(cost.pop(_DIGESTS, [digest])):
            raise InputError(
                f"{folder / _RECORD} was altered after it was written: its checksum does not match; remove "
                f"{str(folder)!r} to train it anew"
            )
        _check(folder / _RECORD, record, _RECORD_HAS)
        _check(folder / _COST, cost, _COST_HAS)
        return record | cost

    def records(self) -> Iterator[Record]:
        """All finished runs, in the order of their names."""
        for name in self.names():
            record = self.load(name)
            if record is not None:
                yield record

    def names(self) -> list[str]:
        """Names of all finished runs, in order."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{_RECORD}"))

    def checkpoint(self, name: str) -> Path:
        """Where a run keeps what it needs to go on."""
        return made(self.root / name) / _CHECKPOINT

    @property
    def tracking(self) -> Path:
        """Where trackers keep curves, if there are any."""
        return self.root / "tracking"

    @contextmanager
    def writing(self, name: str, *, wait: bool = False) -> Iterator[None]:
        """Keep other processes from writing the same run; if one does already, wait for it, or an error."""
        with locked(self.root / name, wait=wait) as lock:
            yield
            if self.load(name) is not None:  # all is written, so that no one needs the lock
                lock.unlink(missing_ok=True)

    def save(
        self, name: str, record: Record, cost: Record, learner: nn.Module, arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write everything of a finished run, the record last."""
        folder = made(self.root / name)
        save_tensors(folder / _LEARNER, learner.state_dict())
        with replacing(folder / _CODES) as path, path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        content = _text(record)
        _write(folder / _COST, _text(cost | {_DIGESTS: [_digest(content)]}))
        _write(folder / _RECORD, content)
        for path in folder.glob(_CHECKPOINTS):
            path.unlink(missing_ok=True)

    def add_scores(self, name: str, added: Record) -> None:
        """Write more scores into the record of a finished run: by `scores`, `identity` and the like, then by name."""
        folder = self.root / name
        (record, before), (cost, _) = _read(folder / _RECORD), _read(folder / _COST)
        found = {kind: record.get(kind, {}) | scores for kind, scores in added.items()}
        content = _text(record | found)
        _write(folder / _COST, _text(cost | {_DIGESTS: [before, _digest(content)]}))
        _write(folder / _RECORD, content)
        _write(folder / _COST, _text(cost | {_DIGESTS: [_digest(content)]}))

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """`factors` and `codes` of a finished run's evaluation, and the first of its `observations`.

        Where the source keeps samples apart, `training_factors` and `training_codes` are of samples it trained on. Runs
        that held something out have `held_out_factors` and `held_out_codes`, those on images `pairs`, [pairs, 2, …],
        and those with a decoder what it draws along each code, `decoded`, [codes, steps, …].
        """
        path = self._trained(name, _CODES)
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{path} is cut short or altered: {error}") from None

    def weights(self, name: str) -> dict[str, Tensor]:
        """The trained learner of a finished run, as tensors by their names."""
        return load_tensors(self._trained(name, _LEARNER))[0]

    def _trained(self, name: str, filename: str) -> Path:
        path = self.root / name / filename
        if not path.exists():
            raise InputError(f"{path} is missing: the store must be one that trained, not a copy by `identica export`")
        return path

    def export(self, target: Path) -> int:
        """Copy the records and costs of all finished runs, without codes and weights, into another store."""
        folders = [path.parent for path in sorted(self.root.glob(f"*/{_RECORD}"))]
        for folder in folders:
            copied = Path(target) / folder.name
            with locked(copied) as lock:
                for filename in (_COST, _RECORD):
                    _write(copied / filename, (folder / filename).read_bytes())
                lock.unlink(missing_ok=True)
        return len(folders)


def _text(content: Record) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


def _read(path: Path) -> tuple[Record, str]:
    """A record and the hash of its bytes."""
    try:
        written = path.read_bytes()
        content = json.loads(written.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a readable record: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a readable record: it holds no object")
    return content, _digest(written)


def _check(path: Path, content: Record, needed: Mapping[str, type]) -> None:
    """Raise unless all is there that tables and pages need."""
    for name, kind in needed.items():
        value = content.get(name)
        if not isinstance(value, (int, float) if kind is float else kind):
            got = "none" if name not in content else type(value).__name__
            raise InputError(f"{path} is not a readable record: {name!r} must be of type {kind.__name__}, got {got}")
    scores = [_inner(content["scores"], name).get("value") for name in content.get("scores", {})]
    for value in [*scores, *content.get("identity", {}).values()]:
        if not isinstance(value, int | float):
            raise InputError(f"{path} is not a readable record: scores must be numbers, got {value!r}")


def _inner(record: Record, name: str) -> Record:
    found = record.get(name, {})
    return found if isinstance(found, dict) else {}
