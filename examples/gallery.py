"""Make the pictures of the gallery: run the blocks of each of its pages, and keep what they draw.

python examples/gallery.py [PAGE …]   # such as beacon; all pages if none is named

A page whose data are not in the folder that IDENTICA_DATA names is left out, and said to be.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import time
from contextlib import chdir
from pathlib import Path

import matplotlib as mpl

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
MOST_BYTES = 300_000


def needed(text: str) -> list[str]:
    """Folders of data that a page reads."""
    return re.findall(r"IDENTICA_DATA\"\]\) / \"([\w/.]+)\"", text)


def draw(page: Path) -> list[Path]:
    """Run a page in an empty folder; its pictures go beside it."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    made = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        exec("\n".join(blocks), {"__name__": "gallery"})
        for picture in sorted(Path(folder).glob("*.png")):
            if picture.stat().st_size > MOST_BYTES:
                raise SystemExit(f"{picture.name} of {page.name} has {picture.stat().st_size} bytes: draw less")
            made.append(Path(shutil.move(picture, GALLERY / picture.name)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="names of pages; default: all")
    wanted = parser.parse_args().pages
    mpl.use("agg")
    data = Path(os.environ.get("IDENTICA_DATA", ""))
    for page in sorted(GALLERY.glob("*.md")):
        if page.stem == "index" or (wanted and page.stem not in wanted):
            continue
        missing = [name for name in needed(page.read_text(encoding="utf-8")) if not (data / name).exists()]
        if missing:
            print(f"{page.stem}: left out, IDENTICA_DATA has no {missing[0]}")
            continue
        started = time.monotonic()
        made = draw(page)
        print(f"{page.stem}: {', '.join(one.name for one in made)} in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
