"""Records of finished runs on disk: one folder a run, named by a hash of its settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from identica._checks import InputError
from identica._files import replacing

__all__ = ["RECORD_FORMAT", "Record", "RunStore"]

Record = dict[str, Any]
"""What a run gave, as JSON has it: settings, scores and the training curve."""

RECORD_FORMAT = 2
"""What records of this version look like."""

_RECORD, _COST, _CODES, _LEARNER = "record.json", "cost.json", "codes.npz", "learner.safetensors"


@final
class RunStore:
    """A folder of runs.

    A run's folder holds `record.json` (settings, scores, curve, versions: the same bytes whenever the same seed runs
    again on one machine), `cost.json` (seconds, peak memory, machine), `codes.npz` (factors and codes of the
    evaluation, and some observations), `learner.safetensors`, and while it trains `checkpoint.safetensors`. A run is
    finished when its record exists; the record is written last.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InputError(f"the store must be a folder, but {self.root} is a file")

    def load(self, name: str) -> Record | None:
        """The record of a finished run with its cost, or None."""
        folder = self.root / name
        if not (folder / _RECORD).exists():
            return None
        record = _read(folder / _RECORD)
        found = record.get("settings", {}).get("format")
        if found != RECORD_FORMAT:
            raise InputError(f"{folder / _RECORD} must be of format {RECORD_FORMAT}, got {found!r}: train it anew")
        return record | _read(folder / _COST)

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
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "checkpoint.safetensors"

    def save(
        self, name: str, record: Record, cost: Record, learner: nn.Module, arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Write everything of a finished run, the record last."""
        from safetensors.torch import save_file

        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        weights = {key: value.detach().cpu().contiguous() for key, value in learner.state_dict().items()}
        with replacing(folder / _LEARNER) as path:
            save_file(weights, path)
        with replacing(folder / _CODES) as path, path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        _write(folder / _COST, cost)
        _write(folder / _RECORD, record)
        (folder / "checkpoint.safetensors").unlink(missing_ok=True)

    def add_scores(self, name: str, added: Record) -> None:
        """Write more scores into the record of a finished run: by `scores`, `identity` and the like, then by name."""
        record = _read(self.root / name / _RECORD)
        found = {kind: record.get(kind, {}) | scores for kind, scores in added.items()}
        _write(self.root / name / _RECORD, record | found)

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """`factors` and `codes` of a finished run's evaluation, and the first of its `observations`.

        Where the source keeps samples apart, `training_factors` and `training_codes` are of samples it trained on. Runs
        that held something out have `held_out_factors` and `held_out_codes`, those on images `pairs`, [pairs, 2, …].
        """
        with np.load(self._trained(name, _CODES), allow_pickle=False) as arrays:
            return dict(arrays)

    def weights(self, name: str) -> dict[str, Tensor]:
        """The trained learner of a finished run, as tensors by their names."""
        from safetensors.torch import load_file

        return load_file(self._trained(name, _LEARNER))

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
            copied.mkdir(parents=True, exist_ok=True)
            for filename in (_COST, _RECORD):
                with replacing(copied / filename) as unfinished:
                    unfinished.write_bytes((folder / filename).read_bytes())
        return len(folders)


def _write(path: Path, content: Record) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _read(path: Path) -> Record:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a readable record: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a readable record: it holds no object")
    return content
