"""Seconds and megabytes, measured the same way by every benchmark."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from identica._machine import describe_machine


def seconds(function: Callable[[], object], *, repeats: int = 5, warmup: int = 1) -> float:
    """Median time of a call."""
    return seconds_of_each({"call": function}, repeats=repeats, warmup=warmup)["call"]


def seconds_of_each(
    functions: Mapping[str, Callable[[], object]], *, repeats: int = 5, warmup: int = 1
) -> dict[str, float]:
    """Median time of each call, taken in turns so that a noisy neighbour hits all of them alike."""
    for _ in range(warmup):
        for function in functions.values():
            function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            started = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in times.items()}


def peak_mb() -> float:
    """Largest resident size of this process so far (since `forget_peak`, where the system can forget)."""
    return _status("VmHWM")


def resident_mb() -> float:
    """Resident size of this process now."""
    return _status("VmRSS")


def forget_peak() -> None:
    """Let `peak_mb` count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def in_child(script: str, *arguments: str, exact_memory: bool = False) -> Any:
    """Run a benchmark script in a process of its own and read the JSON object it prints.

    With `exact_memory` every large block is handed back to the system at once, so that the resident size tells the
    truth; that costs time.
    """
    thresholds = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    environment = os.environ | (thresholds if exact_memory else {})
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return describe_machine() | {"threads": torch.get_num_threads(), "torch": torch.__version__}


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(key)).split()[1]) / 1024
