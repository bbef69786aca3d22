"""A whole file for every reader, to be damaged."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from identica._tensors import load_tensors, save_tensors
from identica.datafiles import read_dataset
from identica.estimator import ContrastiveICA
from identica.experiments import RunStore, execute
from identica.report import make_table
from identica.sources.sprites.mots import measure_transitions
from torture_kills import run_of

_BVH = """HIERARCHY
ROOT hip
{{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {{
    OFFSET 0 -1 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {{
      OFFSET 0 -1 0
    }}
  }}
}}
MOTION
Frames: 12
Frame Time: 0.01
{rows}
"""

TRAPS = ("trap.npy", "trap.npz", "pickle.npy")
"""Samples that hold code, and must never be read."""


@dataclass(frozen=True)
class Sample:
    """A folder, the files in it that are damaged, and what reads the folder."""

    name: str
    folder: Path
    files: tuple[str, ...]
    read: Callable[[Path], Any]


class _Trap:
    """A pickle of this makes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return os.mkdir, (str(self.path),)


def samples(folder: Path, trap: Path) -> list[Sample]:
    """One of each kind."""
    return [*_data(folder, trap), _images(folder), _annotations(folder), *_store(folder), _model(folder)]


def _data(folder: Path, trap: Path) -> list[Sample]:
    import h5py
    import pandas

    chance = np.random.default_rng(0)
    x = chance.normal(size=(40, 3)).astype(np.float32)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"])
    rows = "\n".join(" ".join(f"{value:.4f}" for value in row) for row in chance.normal(size=(12, 9)))
    objects = np.array([_Trap(trap)], dtype=object)

    def hdf(path: Path) -> None:
        with h5py.File(path, "w") as file:
            file["x"] = x
            file["trials"] = np.array([b"one"] * 40)

    written: dict[str, Callable[[Path], Any]] = {
        "x.npz": lambda path: np.savez_compressed(path, x=x, pairs=np.arange(40).reshape(20, 2)),
        "x.npy": lambda path: np.save(path, x),
        "x.csv": lambda path: frame.to_csv(path, index=False),
        "x.parquet": frame.to_parquet,
        "x.h5": hdf,
        "x.bvh": lambda path: path.write_text(_BVH.format(rows=rows)),
        "trap.npy": lambda path: np.save(path, objects, allow_pickle=True),
        "trap.npz": lambda path: np.savez(path, allow_pickle=True, x=objects),
        "pickle.npy": lambda path: path.write_bytes(pickle.dumps(_Trap(trap))),
    }
    found = []
    for name, write in written.items():
        place = folder / name
        place.mkdir(parents=True)
        write(place / name)
        found.append(Sample(name, place, (name,), lambda where, name=name: read_dataset(where / name)))
    return found


def _images(folder: Path) -> Sample:
    from PIL import Image

    place = folder / "images"
    place.mkdir()
    chance = np.random.default_rng(1)
    for number in range(3):
        Image.fromarray(chance.integers(0, 255, (12, 12, 3), dtype=np.uint8)).save(place / f"{number}.png")
    return Sample("images", place, ("1.png",), read_dataset)


def _annotations(folder: Path) -> Sample:
    from pycocotools import mask

    place = folder / "annotations"
    place.mkdir()
    lines = []
    for frame in range(12):
        drawn = np.zeros((60, 120), np.uint8, order="F")
        drawn[20:40, 10 + 3 * frame : 40 + 3 * frame] = 1
        lines.append(f"{frame} 1001 1 60 120 {mask.encode(drawn)['counts'].decode()}")
    (place / "0000.txt").write_text("\n".join(lines) + "\n")
    return Sample("annotations", place, ("0000.txt",), lambda where: measure_transitions([where / "0000.txt"]))


def _store(folder: Path) -> list[Sample]:
    from identica.learners import Contrastive
    from identica.models import Model
    from identica.spaces import Box

    place, run = folder / "store", run_of(Contrastive(Model(Box(3), "laplace")))
    execute(run, RunStore(place), device="cpu")
    unsealed = folder / "unsealed"
    RunStore(place).export(unsealed)
    cost = unsealed / run.name / "cost.json"
    cost.write_text(json.dumps({k: v for k, v in json.loads(cost.read_text()).items() if k != "record_sha256"}))
    tensors = folder / "tensors"
    tensors.mkdir()
    save_tensors(tensors / "x.safetensors", RunStore(place).weights(run.name), {"about": "a sample"})

    def shown(where: Path) -> None:
        make_table(RunStore(where).records())

    def used(where: Path) -> None:
        RunStore(where).weights(run.name)
        RunStore(where).arrays(run.name)

    inner = [f"{run.name}/{name}" for name in ("record.json", "cost.json", "codes.npz", "learner.safetensors")]
    return [
        Sample("records", place, (inner[0], inner[1]), shown),
        Sample("records without checksums", unsealed, (inner[0], inner[1]), shown),
        Sample("codes and weights", place, (inner[2], inner[3]), used),
        Sample("tensors", tensors, ("x.safetensors",), lambda where: load_tensors(where / "x.safetensors")),
    ]


def _model(folder: Path) -> Sample:
    chance = np.random.default_rng(2)
    x = chance.normal(size=(200, 3)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ContrastiveICA(lag=1, max_steps=3, random_state=0).fit(x).save(folder / "model")
    return Sample("model", folder / "model", ("model.json", "weights.safetensors"), ContrastiveICA.load)
