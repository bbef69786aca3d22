"""Processes that share batches: the parameters of one, and a clear end when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from identica._checks import InputError
from identica._launched import ALONE, Ranks, launched
from identica._ranks import gathered, mean_over_ranks, together
from identica.training import LostRankError
from identica.training._processes import Crew

SCRIPT = Path(__file__).with_name("ranks.py")
ELASTIC = {"TORCHELASTIC_RUN_ID": "x", "RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
SLURM = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1", "SLURM_STEP_NUM_NODES": "2"}


def started(*words: object, processes: int = 2, **environment: str) -> subprocess.Popen[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(launcher if processes > 1 else []), *map(str, words)]
    return subprocess.Popen(
        command,
        env=os.environ | {"OMP_NUM_THREADS": "1", "IDENTICA_COMPILE": "0"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_who_this_process_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert launched() == ALONE
    for environment in (ELASTIC, SLURM):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            assert launched() == Ranks(1, 4, 2)


def test_a_process_by_itself_meets_no_other() -> None:
    values = torch.rand(3, 2)
    assert gathered(values) is values
    assert mean_over_ranks(values) is values


def test_parts_of_a_batch_are_in_order_and_even() -> None:
    rows = torch.arange(8)
    parts = [Crew(Ranks(rank, 4), torch.device("cpu")).share((rows, rows + 1)) for rank in range(4)]
    assert [part[0].tolist() for part in parts] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert torch.equal(torch.cat([part[1] for part in parts]), rows + 1)
    with pytest.raises(InputError, match="as many rows for each of 3 processes, got 8 rows"):
        Crew(Ranks(0, 3), torch.device("cpu")).share((rows,))


def test_an_error_of_the_connection_is_told_as_a_lost_process() -> None:
    with (
        pytest.raises(LostRankError, match="process 1 of 2 ends, since another one is gone"),
        Crew(Ranks(1, 2), torch.device("cpu")).watched(),
    ):
        raise RuntimeError("[../gloo/transport/tcp/pair.cc:534] Connection closed by peer")
    with pytest.raises(RuntimeError, match="out of memory"), Crew(Ranks(1, 2), torch.device("cpu")).watched():
        raise RuntimeError("out of memory")


def test_ranks_are_together_within_the_block_only() -> None:
    from identica._ranks import ranks

    with together(Ranks(1, 2)):
        assert ranks() == Ranks(1, 2)
    assert ranks() == ALONE


@pytest.mark.slow
def test_two_processes_give_the_parameters_of_one(tmp_path: Path) -> None:
    for processes in (1, 2):
        child = started(SCRIPT, tmp_path, 20, processes=processes)
        said, _ = child.communicate(timeout=900)
        assert child.returncode == 0, said
    alone = sorted(tmp_path.glob("*-1.safetensors"))
    assert len(alone) == 12
    for path in alone:
        one, two = load_file(path), load_file(path.with_name(path.name.replace("-1.", "-2.")))
        assert one.keys() == two.keys()
        for name, values in one.items():
            torch.testing.assert_close(
                two[name], values, atol=1e-6, rtol=0, msg=lambda text, p=path, n=name: f"{p} {n} {text}"
            )


@pytest.mark.slow
def test_when_one_process_is_killed_the_others_end_with_a_message(tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import ranks
from identica.training import LostRankError
def note(step, *_):
    if step == 5:
        open(os.path.join({str(tmp_path)!r}, os.environ["RANK"]), "w").write(str(os.getpid()))
try:
    ranks.trained("soft box", 10**9, report=note, spread=True)
except LostRankError as error:
    open(os.path.join({str(tmp_path)!r}, "said"), "w").write(str(error))
    raise SystemExit(1)
"""
    script = tmp_path / "endless.py"
    script.write_text(code)
    child = started(script)
    try:
        deadline = time.monotonic() + 300
        while not all((tmp_path / rank).exists() and (tmp_path / rank).read_text() for rank in "01"):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        os.kill(int((tmp_path / "1").read_text()), signal.SIGKILL)
        killed = time.monotonic()
        child.communicate(timeout=60)
        assert time.monotonic() - killed < 30
    finally:
        child.kill()
    assert child.returncode != 0
    assert "process 0 of 2 ends, since another one is gone" in (tmp_path / "said").read_text()
