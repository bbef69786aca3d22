from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from identica import _streaming
from identica.cli import main

# Some virtual machines say that they have matrix tiles (AMX) and refuse them: the first network with 16 bits fails, and
# after it every convolution. oneDNN reads this when it is first used; elsewhere it changes nothing.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

# Compiling the loss takes longer than most tests; slow ones and those with the fixture `compiling` do it.
os.environ.setdefault("IDENTICA_COMPILE", "0")

# Each worker of the test run has a core to itself.
torch.set_num_threads(1)


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The loss is compiled where there is a compiler, as it is for users."""
    monkeypatch.setenv("IDENTICA_COMPILE", "1")
    _streaming._can_compile.cache_clear()
    yield
    _streaming._can_compile.cache_clear()


@pytest.fixture(autouse=True)
def as_users_do(request: pytest.FixtureRequest) -> None:
    """Slow tests compile."""
    if request.node.get_closest_marker("slow"):
        request.getfixturevalue("compiling")


@pytest.fixture
def eager_environment() -> dict[str, str]:
    """Environment of a child process that does not spend its time compiling."""
    return os.environ | {"IDENTICA_COMPILE": "0", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run a command line in this process and a fresh folder; exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["identica", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out, said.err

    return call
