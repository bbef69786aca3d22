from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from identica._checks import InputError
from identica.sources.kitti_masks import measure_masks, read_released

MASKS = [
    np.random.default_rng(seed).integers(2, size=(length, 8, 8)).astype(bool) for seed, length in enumerate((3, 5))
]
CONTENT = {
    "pedestrians": MASKS,
    "pedestrians_latents": [measure_masks(one.astype(np.uint8)).astype(np.float32) for one in MASKS],
}


def stored(folder: Path, content: Any, protocol: int = 4) -> Path:
    path = folder / "kitti_peds_v2.pickle"
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32, ">i4"])
def test_arrays_of_any_protocol_are_read(tmp_path: Path, protocol: int, dtype: Any) -> None:
    content = CONTENT | {"pedestrians": [one.astype(dtype) for one in MASKS]}
    found = read_released(stored(tmp_path, content, protocol))
    assert found.lengths.tolist() == [3, 5]
    assert found.tracks.tolist() == [0, 1]
    assert np.array_equal(found.images.floats(torch.arange(8))[:, 0].numpy(), np.concatenate(MASKS))
    assert np.allclose(found.factors.numpy(), np.concatenate(CONTENT["pedestrians_latents"]))


def test_arrays_by_columns_are_read(tmp_path: Path) -> None:
    content = CONTENT | {"pedestrians": [np.asfortranarray(one) for one in MASKS]}
    found = read_released(stored(tmp_path, content))
    assert np.array_equal(found.images.floats(torch.arange(8))[:, 0].numpy(), np.concatenate(MASKS))


class Hostile:
    """Calls something when it is unpickled."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


HOSTILE = {
    "posix.mkdir": lambda trap: Hostile(os.mkdir, trap),
    "posix.system": lambda trap: Hostile(os.system, f"touch {trap}"),
    "builtins.eval": lambda trap: Hostile(eval, f"__import__('os').mkdir({trap!r})"),
    "builtins.getattr": lambda trap: Hostile(getattr, os, "mkdir"),
    "collections.OrderedDict": lambda trap: OrderedDict(CONTENT),
}


@pytest.mark.parametrize("named", HOSTILE)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_hostile_pickle_is_refused_and_runs_nothing(tmp_path: Path, named: str, protocol: int) -> None:
    trap = tmp_path / "trap"
    hostile = HOSTILE[named](str(trap))
    if named == "builtins.getattr":
        text = b"cbuiltins\ngetattr\n(cos\nsystem\nVx\ntR."
    else:
        text = pickle.dumps(CONTENT | {"pedestrians": hostile}, protocol)
    with pytest.raises(InputError, match=r"kitti_peds_v2.pickle' cannot be read as a pickle of arrays, nothing in it"):
        read_released(stored(tmp_path, text))
    assert not trap.exists()


def test_the_error_names_what_the_pickle_wants(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it wants to call posix\.mkdir, and only numpy arrays are read"):
        read_released(stored(tmp_path, Hostile(os.mkdir, "x")))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (np.array([object()]), "arrays must hold numbers, got 'O8'"),
        (np.zeros(2, [("a", "i4")]), "arrays must hold numbers, got 'V4'"),
        (np.array(["text"]), "arrays must hold numbers, got 'U4'"),
        (b"\x80\x04cnumpy\nndarray\n(K\x01tR.", "arrays must be made the way numpy writes them"),
        (b"\x80\x04cnumpy\nndarray\n}b.", "a name cannot be changed"),
        (b"\x80\x04c_codecs\nencode\n(Vx\nVzip\ntR.", "text must be encoded as latin1, got 'zip'"),
        (b"\x80\x04cnumpy\nload\n.", "it wants to call numpy.load"),
        (b"", "Ran out of input"),
        (b"no pickle", ""),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(tmp_path: Path, content: Any, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        read_released(stored(tmp_path, content))
    assert "nothing in it was run" in str(caught.value)
    assert reason in str(caught.value)


def test_an_array_must_have_all_its_bytes(tmp_path: Path) -> None:
    text = pickle.dumps(np.arange(300, dtype=np.uint8), 2)
    longer = text.replace(b"M,\x01", b"M,\x02")  # its shape, 300, becomes 556
    assert longer != text
    with pytest.raises(InputError, match=r"an array of shape \[556\] must have its bytes, got 300"):
        read_released(stored(tmp_path, longer))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "must hold a dict with 'pedestrians' and 'pedestrians_latents', got others"),
        ({"pedestrians": MASKS}, "must hold a dict with"),
        (CONTENT | {"pedestrians": MASKS[:1]}, "must have a row for each frame of pedestrians"),
        (CONTENT | {"pedestrians": [MASKS[0], "text"]}, "pedestrians in .* must be a list of arrays of 3 axes"),
        (CONTENT | {"pedestrians": []}, "pedestrians in .* must be a list of arrays of 3 axes"),
        (CONTENT | {"pedestrians": [2 * one.astype(int) for one in MASKS]}, "must be zeros and ones"),
    ],
)
def test_other_contents_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_released(stored(tmp_path, content))
