from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from identica._checks import InputError
from identica.laws import Normal
from identica.rendering import RenderedSet, TeapotRenderer, to_scene, write_set

Command = Callable[..., tuple[int, str, str]]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_files_are_laid_out_as_released(tmp_path: Path) -> None:
    out = tmp_path / "set"
    assert write_set(RenderedSet(5, 16, seed=3), out) == 5
    assert set(contents(out)) == {f"images/{row:06d}.png" for row in range(5)} | {
        "latents.npy",
        "raw_latents.npy",
        "set.json",
    }
    raw, latents = np.load(out / "raw_latents.npy"), np.load(out / "latents.npy")
    assert np.abs(raw).max() <= 1
    assert np.array_equal(latents, to_scene(raw))
    pictures = np.stack([np.asarray(Image.open(out / f"images/{row:06d}.png")) for row in range(5)])
    assert np.array_equal(pictures, TeapotRenderer(16).render(latents))


def test_an_array_goes_on_where_it_stopped(tmp_path: Path) -> None:
    settings = RenderedSet(70, 8, layout="array", pairs=Normal(0.1))
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert write_set(settings, whole) == 140

    class StopError(Exception):
        pass

    def stop(done: int, count: int) -> None:
        assert count == 140
        if done > 32:
            raise StopError

    with pytest.raises(StopError):
        write_set(settings, stopped, report=stop)
    assert not (stopped / "images.npy").exists()
    assert write_set(settings, stopped) == 140 - 64
    assert contents(stopped) == contents(whole)
    assert write_set(settings, whole) == 0


def test_partners_come_from_the_conditional() -> None:
    arrays = RenderedSet(4000, pairs=Normal(0.1)).arrays()
    first, second = arrays["raw_latents"], arrays["partner_raw_latents"]
    inner = np.abs(first) < 0.5
    assert np.std((second - first)[inner]) == pytest.approx(0.1, rel=0.05)
    assert np.abs(second).max() <= 1


def test_another_set_is_not_mixed_in(tmp_path: Path) -> None:
    write_set(RenderedSet(1, 8), tmp_path / "set")
    with pytest.raises(InputError, match=r"has size 8, not 9"):
        write_set(RenderedSet(1, 9), tmp_path / "set")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="must be a new or an empty folder"):
        write_set(RenderedSet(1, 8), tmp_path / "full")
    with pytest.raises(InputError, match=r"out needs .* GB, but"):
        write_set(RenderedSet(10**9, 1000, layout="array"), tmp_path / "huge")
    assert not (tmp_path / "huge").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--count", "0"), "--count must be a whole number of at least 1, got 0"),
        (("--count", "1", "--size", "-3"), "--size must be"),
        (("--count", "1", "--layout", "arrays"), "unknown --layout 'arrays': did you mean 'array'?"),
        (("--count", "1", "--pairs", "normal"), "lacks sigma"),
        (("--count", "1", "--pairs", "uniform"), "pairs must be a law around the latents"),
        (("--count", "1", "--jobs", "0"), "--jobs must be"),
    ],
)
def test_wrong_words_are_told_at_once(command_line: Command, words: tuple[str, ...], message: str) -> None:
    code, _, err = command_line("render", "--out", "set", *words)
    assert code == 2
    assert message in err
    assert not Path("set").exists()


def test_the_command_tells_its_speed(command_line: Command) -> None:
    words = ("render", "--count", "3", "--size", "8", "--out", "set", "--jobs", "1", "--json")
    code, out, err = command_line(*words)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["rendered"] == 3
    assert told["images_per_second"] == pytest.approx(3 / told["seconds"], rel=0.05)
    again = json.loads(command_line(*words)[1])
    assert (again["rendered"], again["images_per_second"]) == (0, None)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["files", "array"])
def test_a_killed_set_becomes_the_same_with_other_processes(tmp_path: Path, layout: str) -> None:
    words = [sys.executable, "-m", "identica.cli", "render", "--count", "600", "--size", "64", "--layout", layout]
    # The first processes compile what the others read: pictures must not show who did which.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
    killed = subprocess.Popen([*words, "--out", str(tmp_path / "killed"), "--jobs", "2"], env=environment)
    found = tmp_path / "killed" / ("images" if layout == "files" else "images.npy.done")
    for _ in range(2400):
        time.sleep(0.05)
        if found.is_dir() and len(list(found.glob("*.png"))) > 60:
            break
        if found.is_file() and sum(found.read_bytes()) > 1:
            break
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    time.sleep(2)  # its processes notice at their next chunk
    assert not (tmp_path / "killed" / "images.npy").exists()
    for name, workers in (("killed", "2"), ("whole", "1")):
        subprocess.run([*words, "--out", str(tmp_path / name), "--jobs", workers], check=True, env=environment)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
