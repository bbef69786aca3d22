from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

# Each worker of the test run has a core to itself.
torch.set_num_threads(1)


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def eager_environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment of a child process that does not spend its time compiling."""
    return os.environ | {"IDENTICA_COMPILE": "0", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"
