"""Pictures of pages for the documentation: of a recording, of pictures and of noise, wide and narrow, light and dark.

python examples/screenshots.py [--out docs/pages]   # needs chromium and chromedriver
"""

from __future__ import annotations

import argparse
import base64
import io
import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from identica import ContrastiveICA
from identica.report import Report, report_of_fit, write_page

DOCS = Path(__file__).resolve().parents[1] / "docs" / "pages"
WIDTHS = {"wide": 1280, "phone": 375}
HEIGHTS = {"wide": 1500, "phone": 1500}
MOST_BYTES = 300_000


def recording() -> Report:
    """Three signals behind six channels, in five trials."""
    random = np.random.default_rng(0)
    signals = np.full((4000, 3), 0.5)
    for t in range(1, len(signals)):
        signals[t] = np.abs((signals[t - 1] + random.laplace(scale=0.1, size=3) + 1) % 2 - 1)
    mixed = np.tanh(2 * (signals - 0.5) @ random.normal(size=(3, 6))) @ random.normal(size=(6, 6))
    x = pd.DataFrame(mixed, columns=["a", "b", "c", "d", "e", "f"])
    trials = np.repeat([f"trial {number}" for number in range(1, 6)], 800)
    model = ContrastiveICA(3, lag=1, max_steps=600, validation_fraction=0.15, random_state=0).fit(x, trials=trials)
    return report_of_fit(
        model,
        x,
        trials=trials,
        time=np.tile(np.arange(800) / 50, 5),
        colours={"position": signals[:, 0]},
        facts={"file": "recording.csv"},
        title="Components of recording.csv",
    )


def pictures() -> Report:
    """A bright square at some place; partners have it near."""
    random = np.random.default_rng(0)
    places = random.uniform(size=(2000, 2))
    moved = np.clip(places + random.laplace(scale=0.05, size=places.shape), 0, 1)
    x, x_pos = (np.stack([square(place) for place in half]) for half in (places, moved))
    model = ContrastiveICA(2, encoder="conv", max_steps=150, validation_fraction=0.15, random_state=0).fit(x, x_pos)
    return report_of_fit(model, x, X_pos=x_pos, facts={"file": "squares/"}, title="Components of pictures")


def square(place: Any) -> Any:
    """A picture, 1 × 24 × 24."""
    grid = np.arange(24) / 23
    sides = [np.clip(1 - 8 * (np.abs(grid - 0.15 - 0.7 * middle) - 0.12), 0, 1) for middle in place]
    return (255 * np.outer(sides[1], sides[0])).astype(np.uint8)[None]


def noise() -> Report:
    """Pairs that have nothing in common."""
    random = np.random.default_rng(0)
    x, x_pos = random.normal(size=(2, 1500, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it says that nothing was found
        model = ContrastiveICA(3, max_steps=200, validation_fraction=0.2, random_state=0).fit(x, x_pos)
    return report_of_fit(model, x, X_pos=x_pos, facts={"file": "noise.csv"}, title="Components of noise.csv")


def browser() -> Any:
    """Chromium without a window."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        raise SystemExit("chromium and chromedriver are needed: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--hide-scrollbars"):
        options.add_argument(argument)
    return Chrome(options=options, service=Service(executable_path=driver))


def shoot(driver: Any, page: Path, width: int, height: int | None, theme: str) -> bytes:
    """The top of a page, or all of it if no height is given, as a small PNG file."""
    from selenium.webdriver.support.ui import WebDriverWait

    size = {"width": width, "height": height or 1500, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(page.as_uri())
    WebDriverWait(driver, 60).until(lambda one: one.execute_script("return document.documentElement.dataset.drawn"))
    if height is None:
        size["height"] = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        time.sleep(2)  # drawings that were out of sight are drawn
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB").quantize(128)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    if file.tell() > MOST_BYTES:
        raise SystemExit(f"the picture of {page.name} has {file.tell()} bytes")
    return file.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DOCS)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    driver = browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for make in (recording, pictures, noise):
                page = Path(folder) / f"{make.__name__}.html"
                write_page(make(), page)
                for kind, width in WIDTHS.items():
                    for theme in ("light", "dark"):
                        picture = out / f"{make.__name__}-{kind}-{theme}.png"
                        picture.write_bytes(shoot(driver, page, width, HEIGHTS[kind], theme))
                (out / f"{make.__name__}-whole.png").write_bytes(shoot(driver, page, WIDTHS["wide"], None, "light"))
                print(f"{make.__name__}: a page of {page.stat().st_size / 1e6:.1f} MB, five pictures", flush=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
