"""Kill runs at random moments and damage files: what is left must be right, or refused in clear words.

    python benchmarks/torture.py [--kills 60] [--files 10000] [--seed 0] [--quick] [--json]

Part one kills processes that train, tabulate and draw with SIGKILL, starts them again, and compares every file at the
end with one of an undisturbed process, byte for byte. Part two gives damaged files to every reader: each must be read
or be refused with an `InputError`, within a limit of memory and time, and no code in a file may run. Exit code 1 if
anything was different.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("IDENTICA_COMPILE", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def tortured(folder: Path, kills: int, files: int, seed: int) -> dict[str, Any]:
    """Both parts, in a folder of their own."""
    import torch

    import torture_files
    import torture_kills

    torch.set_num_threads(1)
    started = time.monotonic()
    killed = torture_kills.torture(folder / "runs", kills, seed)
    damaged = torture_files.torture(folder / "files", files, seed)
    return {**killed, **damaged, "minutes": round((time.monotonic() - started) / 60, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="6 kills and 130 files")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kills, files = (6, 130) if options.quick else (options.kills, options.files)
    with tempfile.TemporaryDirectory() as folder:
        found = tortured(Path(folder), kills, files, options.seed)
    if options.json:
        print(json.dumps(found))
    else:
        print(
            f"{found['kills']} kills, {found['restarts']} restarts, {found['compared']} files compared, "
            f"{len(found['differences'])} differences\n"
            f"{found['files']} damaged files: {found['refused']} refused, {found['read']} read, "
            f"{len(found['failures'])} failures, {found['peak_memory_mb']:.0f} MB at the most\n"
            f"{found['minutes']} minutes"
        )
        for line in found["differences"] + found["failures"]:
            print(line)
    sys.exit(1 if found["differences"] or found["failures"] else 0)


if __name__ == "__main__":
    main()
