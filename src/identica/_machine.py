"""What a run was measured on, and how much of it was used."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from identica import __version__

__all__ = ["describe_machine", "peak_memory_mb", "usable_threads", "versions"]


def describe_machine() -> dict[str, Any]:
    """Processor, cores and system."""
    return {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()}


def usable_threads() -> int:
    """As many as `OMP_NUM_THREADS` says, as for every library that computes in threads; otherwise one for each core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) > 0 else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    import numpy as np
    import torch

    return {
        "identica": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }


def peak_memory_mb() -> float | None:
    """Largest resident size of this process so far; unknown where the system does not count it."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
