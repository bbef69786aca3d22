"""The page in a real browser: charts are drawn, answer to the mouse, and follow the theme and the width."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identica.attribution import Attribution
from identica.report.page import Report, write_page
from identica.validation import Differences
from identica.verdicts import judge

selenium = pytest.importorskip("selenium", reason="selenium is not installed: make install-dev")
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="chromium and chromedriver are not installed: apt-get install chromium chromium-driver",
)

LEVELS = np.linspace(0.01, 0.99, 30)
SPREAD = np.tile(LEVELS[:, None] - 0.5, 3)
HOSTILE = "<img src=x onerror=x()>%{x}"
PLOTS = [
    "loss",
    "scores",
    *(f"law-{place}" for place in range(3)),
    *(f"marginal-{place}" for place in range(3)),
    "factor-0",
    "factor-1",
    "correlations",
    "widths",
    "channels",
    "trajectories",
    "embedding",
    *(f"pair-{place}" for place in range(3)),
    "agreement",
]
MARKS = ".scatterlayer path, .heatmaplayer image, .barlayer path, .gl-container canvas"
# Texts of a chart whose boxes lie upon each other by more than rounding.
OVERLAPS = """
return [...document.querySelectorAll(".plot")].flatMap((place) => {
  const chosen = ".xtick text, .ytick text, .xtitle, .ytitle, .gtitle, .legendtext, .annotation-text";
  const texts = [...place.querySelectorAll(chosen)].filter((text) => text.textContent.trim());
  const boxes = texts.map((text) => text.getBoundingClientRect());
  return texts.flatMap((text, i) => texts.slice(0, i).flatMap((other, j) => {
    const wide = Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left);
    const high = Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top);
    return wide > 2 && high > 3 ? [`${place.id}: ${text.textContent} on ${other.textContent}`] : [];
  }));
});
"""
# Texts that leave the chart that they belong to.
CUT_OFF = """
return [...document.querySelectorAll(".plot")].flatMap((place) => {
  const frame = place.getBoundingClientRect();
  return [...place.querySelectorAll(".xtitle, .ytitle, .gtitle, .legendtext")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.right > frame.right + 2 || box.left < frame.left - 2);
  }).map((text) => `${place.id}: ${text.textContent}`);
});
"""


def write_example(path: Path) -> None:
    generator = np.random.default_rng(0)
    latents = generator.uniform(size=(200, 2))
    codes = np.column_stack([latents[:, 1], 1 - latents[:, 0], generator.uniform(size=200)])
    write_page(
        Report(
            title="Recovered & <b>shown</b>",
            codes=codes,
            summary=[("MCC", "99.7 %"), ("a rather long label", "laplace(scale=0.05)")],
            latents=latents,
            latent_names=[HOSTILE, "speed"],
            curve=[
                {"step": step, "loss": 3 - step / 50, "held_out_loss": 3 - step / 99, "mcc": 90.0, "r2": 95.0}
                for step in range(0, 100, 5)
            ],
            held_out_bits=-0.1,
            fitted_bits=2.0,
            held_out_pairs=40,
            chosen={"encoder": "linear", "pca_components": None, "steps": 100},
            tried=[
                {"encoder": encoder, "pca_components": None, "steps": 100, "held_out_bits": -0.1, "fitted_bits": 2.0}
                for encoder in ("linear", "a network with a rather long name")
            ],
            judgement=judge(-0.1, 0.1, 2.0),
            facts={"file": "recording.csv", "columns used": "3: " + ", ".join(3 * ["a rather long name"])},
            space="box",
            widths=[0.1, 0.12, 0.3],
            differences=Differences((0, 1, 2), LEVELS, SPREAD, 1.2 * SPREAD, np.array([0.01, 0.1, 0.2]), 40, True),
            attribution=Attribution(generator.uniform(size=(3, 30)), tuple(f"channel {i}" for i in range(30))),
            colours={"side": np.where(latents[:, 0] > 0.5, "left", "right")},
            trials=np.repeat(["a", "b"], 100),
            time=np.tile(np.arange(100) / 50, 2),
            series=True,
            images=generator.integers(256, size=(200, 1, 16, 16), dtype=np.uint8),
            selection={
                "verdict": "The pairs fit best with: box, laplace.",
                "candidates": [
                    {"space": "box", "conditional": "laplace", "bits": 6.4, "behind": 0.0, "behind_error": 0.0}
                ],
            },
            consistency={"runs": 5, "ambiguity": "affine map", "agreement": 93.0, "per_component": [99.0, 87.0]},
            settings={"a_setting_with_a_long_name": "x" * 60},
        ),
        path,
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(BROWSER)
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_example(path)
    browser.set_window_size(1200, 900)
    emulate(browser, theme="light")
    browser.get(path.as_uri())
    wait(browser, "document.documentElement.dataset.drawn")
    return browser


def emulate(browser: Any, theme: str) -> None:
    """A desktop with a mouse, which a browser without a window has not, and its owner's taste."""
    wanted = {"hover": "hover", "pointer": "fine", "prefers-color-scheme": theme}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def wait(browser: Any, expression: str, seconds: float = 30) -> Any:
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, seconds, 0.05).until(lambda driver: driver.execute_script(f"return {expression}"))


def style(page: Any, selector: str, name: str) -> str:
    return page.execute_script(
        "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name
    )


def test_every_chart_is_drawn(page: Any) -> None:
    names = page.execute_script("return [...document.querySelectorAll('.plot')].map((place) => place.id.slice(5))")
    assert names == PLOTS
    drawn = page.execute_script(
        "return [...document.querySelectorAll('.plot')].map((place) => place.querySelectorAll(arguments[0]).length)",
        MARKS,
    )
    assert min(drawn) > 0, dict(zip(names, drawn, strict=True))


def test_points_of_the_embedding_are_painted(page: Any) -> None:
    # The canvas is asked for a picture of itself in the frame it was drawn in.
    colours = page.execute_async_script(
        """
        const done = arguments[0];
        const size = { format: "png", width: 300, height: 300 };
        Plotly.toImage(document.getElementById("plot-embedding"), size).then((address) => {
          const image = new Image();
          image.onload = () => {
            const canvas = Object.assign(document.createElement("canvas"), { width: 300, height: 300 });
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const pixels = context.getImageData(0, 0, 300, 300).data;
            done(pixels.filter((value, index) => index % 4 === 2 && value > pixels[index - 2] + 60).length);
          };
          image.src = address;
        });
        """
    )
    assert colours > 100


def test_nothing_fails_or_is_fetched(page: Any) -> None:
    messages = [entry["message"] for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
    assert messages == []
    fetched = page.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []


def test_the_mouse_finds_points(page: Any) -> None:
    point = "document.querySelector('#plot-factor-1 .scatterlayer .point')"
    page.execute_script(f"{point}.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
    box = page.execute_script(f"return {point}.getBoundingClientRect().toJSON()")
    for shift in (4, 0):
        page.execute_cdp_cmd(
            "Input.dispatchMouseEvent",
            {"type": "mouseMoved", "x": box["x"] + box["width"] / 2 + shift, "y": box["y"] + box["height"] / 2},
        )
    label = wait(page, "document.querySelector('#plot-factor-1 .hoverlayer .hovertext')?.textContent", 5)
    assert "speed" in label
    assert "component 1" in label


def test_names_are_shown_as_they_are(page: Any) -> None:
    title = page.execute_script("return document.querySelector('#plot-factor-0 .xtitle').textContent")
    assert title == HOSTILE[:19] + "…"
    assert page.execute_script("return document.querySelector('h1').textContent") == "Recovered & <b>shown</b>"
    assert page.execute_script("return document.querySelectorAll('.plot img').length") == 0


def test_the_assignment_can_be_taken_back(page: Any) -> None:
    columns = "document.getElementById('plot-correlations').data[0].x.join()"
    buttons = page.find_elements("css selector", "[data-figures=correlations] button")
    assert page.execute_script(f"return {columns}") == "component 2,component 1,component 3"
    page.execute_script("arguments[0].click()", buttons[0])
    wait(page, f"{columns} === 'component 1,component 2,component 3'", 5)
    assert [button.get_attribute("aria-pressed") for button in buttons] == ["true", "false"]
    page.execute_script("arguments[0].click()", buttons[1])
    wait(page, f"{columns} === 'component 2,component 1,component 3'", 5)


def test_the_theme_reaches_page_and_charts(page: Any) -> None:
    def colours() -> tuple[str, ...]:
        return (
            style(page, "body", "backgroundColor"),
            style(page, "#plot-loss .xtick text", "fill"),
            style(page, "#plot-loss .scatterlayer path.js-line", "stroke"),
        )

    themes = {}
    for theme, other in (("light", "dark"), ("dark", "light")):
        themes[theme] = colours()
        page.execute_script("document.getElementById('theme').click()")
        wait(page, f"document.documentElement.dataset.drawn === '{other}'")
    assert all(light != dark for light, dark in zip(themes["light"], themes["dark"], strict=True))


def test_the_theme_is_the_one_its_reader_prefers(page: Any) -> None:
    for theme in ("dark", "light"):
        emulate(page, theme)
        wait(page, f"document.documentElement.dataset.drawn === '{theme}'")


@pytest.fixture
def sized(page: Any) -> Iterator[Callable[[int, str], None]]:
    """Show the page at a width and in a theme, as a desktop or as a phone."""

    def show(width: int, theme: str) -> None:
        phone = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        emulate(page, theme)
        wait(page, f"document.documentElement.dataset.drawn === '{theme}'")
        edges = "[...document.querySelectorAll('.plot .main-svg')].map((plot) => plot.getBoundingClientRect().right)"
        wait(page, f"innerWidth === {width} && Math.max(...{edges}) <= {width}", 10)

    yield show
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    emulate(page, "light")
    wait(page, "document.documentElement.dataset.drawn === 'light'")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_the_page_looks_right(page: Any, sized: Callable[[int, str], None], width: int, theme: str) -> None:
    sized(width, theme)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    drawn = page.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.plot')].map((place) =>"
        " [place.id, place.querySelectorAll(arguments[0]).length]))",
        MARKS,
    )
    assert [name for name, count in drawn.items() if not count] == []
    assert page.execute_script(OVERLAPS) == []
    assert page.execute_script(CUT_OFF) == []
    assert [entry["message"] for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_no_row_of_panels_has_an_empty_place(page: Any, sized: Callable[[int, str], None]) -> None:
    for width in (1280, 375):
        sized(width, "light")
        gaps = page.execute_script(
            """
            return [...document.querySelectorAll(".many, .cards")].map((grid) => {
              return grid.getBoundingClientRect().right - grid.lastElementChild.getBoundingClientRect().right;
            });
            """
        )
        assert max(map(abs, gaps)) < 2


def test_the_first_words_are_the_verdict(page: Any) -> None:
    after = page.execute_script("return document.querySelector('h1').nextElementSibling.textContent")
    assert after.startswith("These pairs tell nothing.")


def test_menus_choose_what_is_shown(page: Any) -> None:
    last = "document.getElementById('plot-trajectories').data[0].y[0]"
    before = page.execute_script(f"return {last}")
    menu = "document.querySelector('select[data-figures=trajectories]')"
    page.execute_script(f"{menu}.selectedIndex = 1; {menu}.dispatchEvent(new Event('change'))")
    wait(page, f"{last} !== {before}", 5)
    page.execute_script(f"{menu}.selectedIndex = 0; {menu}.dispatchEvent(new Event('change'))")
    wait(page, f"{last} === {before}", 5)


def test_the_embedding_turns_by_a_button(page: Any) -> None:
    eye = "document.getElementById('plot-embedding')._fullLayout.scene._scene.getCamera().eye.x.toFixed(3)"
    before = page.execute_script(f"return {eye}")
    page.execute_script("document.querySelector('[data-turn]').click()")
    wait(page, f"{eye} !== '{before}'", 10)


@pytest.mark.parametrize("components", [1, 2, 5])
def test_any_number_of_components_can_be_drawn(browser: Any, tmp_path: Path, components: int) -> None:
    codes = np.random.default_rng(0).normal(size=(50, components))
    write_page(Report(title="Codes", codes=codes, latents=codes), tmp_path / "codes.html")
    browser.get((tmp_path / "codes.html").as_uri())
    wait(browser, "document.documentElement.dataset.drawn")
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_page_of_the_demo(page: Any, command_line: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = command_line("demo", "--steps", "3", "--out", "shown")
    assert code == 0, err
    assert "Report, to open in a browser: shown/report.html" in out
    path = Path("shown/report.html").resolve()
    assert path.stat().st_size < 3_000_000
    page.get_log("browser")
    page.get(path.as_uri())
    wait(page, "document.documentElement.dataset.drawn")
    drawn = page.execute_script(
        "return [...document.querySelectorAll('.plot')].map((p) => p.querySelectorAll('svg').length)"
    )
    assert len(drawn) >= 12  # two curves and ten factors, at the least
    assert all(drawn)
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
