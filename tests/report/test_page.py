from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from identica import ContrastiveICA
from identica._checks import InputError
from identica.attribution import Attribution
from identica.experiments import ROWS, Recovered, Traversal
from identica.report._images import traversals
from identica.report.page import Report, write_page
from identica.report.sources import report_of_fit, report_of_run
from identica.validation import Differences

CONSISTENCY = {
    "runs": 5,
    "ambiguity": "permutation",
    "agreement": 93.1,
    "r2": 99.0,
    "mcc": 93.1,
    "mcc_chance": 8.0,
    "per_component": [99.0, 98.5, 81.8],
    "verdict": "Refits agree in part.",
}
SELECTION = {
    "best": {"space": "box", "conditional": "laplace"},
    "most_bits": 10.0,
    "candidates": [
        {
            "space": space,
            "conditional": "laplace",
            "fitted": "laplace(scale=0.05)",
            "bits": 6.4 - place,
            "behind": float(place),
            "behind_error": 0.01,
            "tied": place == 0,
            "objection": None if place == 0 else "codes do not fill a box",
            "consistency": CONSISTENCY if place == 0 else None,
        }
        for place, space in enumerate(["box", "unbounded"])
    ],
    "verdict": "The pairs fit best with: box, laplace.",
}
SECTIONS = (
    "data",
    "training",
    "trust",
    "law",
    "marginals",
    "factors",
    "correlations",
    "channels",
    "time",
    "embedding",
    "pairs",
    "along",
    "pictures",
    "assumption",
    "refits",
    "settings",
)


class Reader(HTMLParser):
    """What a browser would find in the file."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]

    @property
    def figures(self) -> dict[str, Any]:
        return json.loads(gzip.decompress(base64.b64decode(self.scripts[1])))


def read(report: Report, folder: Path) -> tuple[Reader, str]:
    write_page(report, folder / "page.html")
    content = (folder / "page.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(content)
    reader.close()
    return reader, content


def small(**parts: Any) -> Report:
    codes = np.random.default_rng(0).normal(size=(200, 3))
    return Report(**{"title": "Three components", "codes": codes} | parts)


def some_differences(components: int) -> Differences:
    levels = np.linspace(0.01, 0.99, 50)
    quantiles = np.tile(levels[:, None] - 0.5, components)
    return Differences(
        tuple(range(components)), levels, quantiles, 1.1 * quantiles, np.full(components, 0.04), 99, True
    )


def some_traversal(factors: int, components: int, size: int) -> dict[str, Any]:
    """Pictures that grow brighter, and components that follow one factor each; the last factor was given none."""
    values = np.linspace(-1, 1, 7)
    images = np.zeros((factors, 7, size, size, 3), np.uint8)
    images[..., 0] = np.linspace(0, 255, 7)[:, None, None]
    codes = np.zeros((factors, 7, components))
    for place in range(min(factors, components)):
        codes[place, :, place] = 3 * values
    assigned = (*range(factors - 1), -1)
    return {
        "traversal": Traversal(values, images, "rendered"),
        "recovered": Recovered("run", assigned, codes, (99.0,) * factors),
    }


def everything(samples: int = 300, factors: int = 3, size: int = 16) -> Report:
    generator = np.random.default_rng(0)
    latents = generator.uniform(size=(samples, factors))
    return Report(
        title="Everything",
        lead="In one page.",
        codes=-latents[:, ::-1] + 0.01 * generator.normal(size=latents.shape),
        summary=[("MCC", "99.7 %"), ("steps", "3000")],
        latents=latents,
        curve=[{"step": step, "loss": 1 / step, "mcc": 90.0, "r2": 95.0} for step in range(1, 2000)],
        held_out_bits=3.0,
        chosen={"encoder": "mlp", "pca_components": None},
        facts={"file": "recording.csv", "rows": samples},
        space="box",
        differences=some_differences(factors),
        attribution=Attribution(generator.uniform(size=(factors, 40)), tuple(f"channel {i}" for i in range(40))),
        colours={"position": latents[:, 0], "side": np.where(latents[:, 0] > 0.5, "left", "right")},
        time=np.arange(samples) / 50,
        series=True,
        trials=np.repeat(["first", "second"], samples // 2),
        images=generator.integers(256, size=(samples, 3, size, size), dtype=np.uint8),
        **some_traversal(factors, factors, size),
        selection=SELECTION,
        consistency=CONSISTENCY,
        settings={"space": "box", "lag": None, "protocol": {"learning_rate": 0.02}},
        versions={"identica": "0.1.0"},
    )


def test_a_page_is_small_however_large_the_data(tmp_path: Path) -> None:
    reader, content = read(everything(samples=6_000, factors=50, size=64), tmp_path)
    assert len(content.encode()) < 3_000_000
    assert len(content.encode()) - len(reader.scripts[2].encode()) < 1_000_000
    assert "components 36 to 40" in reader.text


def test_few_large_pictures_are_small_too(tmp_path: Path) -> None:
    report = everything(samples=12, factors=10, size=200)
    assert (len(read(report, tmp_path)[1].encode())) < 3_000_000


def test_a_page_holds_all_it_needs(tmp_path: Path) -> None:
    reader, content = read(everything(), tmp_path)
    addresses = [attributes[key] or "" for _, attributes in reader.tags for key in ("src", "href") if key in attributes]
    outside = [address for address in addresses if not address.startswith(("data:", "#"))]
    assert outside == ["https://proceedings.mlr.press/v139/zimmermann21a.html"]
    assert "default-src 'none'" in content
    style = content[content.index("<style>") : content.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert len(reader.scripts) == 4
    assert b"plotly.js" in gzip.decompress(base64.b64decode(reader.scripts[2]))[:200]


def test_every_chart_has_a_place_and_no_name_is_given_twice(tmp_path: Path) -> None:
    reader, _ = read(everything(), tmp_path)
    places = {name.removeprefix("plot-") for name in reader.ids if name.startswith("plot-")}
    assert places == set(reader.figures)
    assert len(reader.ids) == len(set(reader.ids))
    switched = " ".join(
        attributes["data-figures"] or "" for _, attributes in reader.tags if "data-figures" in attributes
    )
    assert set(switched.split()) <= places


def test_sections_appear_with_their_data_only(tmp_path: Path) -> None:
    full, _ = read(everything(), tmp_path)
    assert [name for name in full.ids if name in SECTIONS] == list(SECTIONS)
    bare, _ = read(small(), tmp_path)
    assert [name for name in bare.ids if name in SECTIONS] == ["pairs"]
    assert "How to cite" in bare.text
    for part, section in {
        "curve": "training",
        "held_out_bits": "trust",
        "chosen": "trust",
        "images": "pictures",
        "selection": "assumption",
        "consistency": "refits",
        "versions": "settings",
        "facts": "data",
        "space": "marginals",
        "differences": "law",
        "attribution": "channels",
    }.items():
        given = getattr(everything(samples=200), part)
        reader, _ = read(small(**{part: given}), tmp_path)
        assert section in reader.ids
    assert "time" in read(small(series=True), tmp_path)[0].ids
    assert "a verdict of one's own" in read(small(verdict="a verdict of one's own"), tmp_path)[0].text


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    hostile = '</script><script>alert(1)</script><img src=x onerror="alert(1)">%{x}'
    latents = np.random.default_rng(0).uniform(size=(200, 3))
    report = small(
        title=hostile,
        lead=hostile,
        summary=[(hostile, hostile)],
        latents=latents,
        latent_names=[hostile, hostile, "var(--ink)"],
        component_names=[hostile, "b", "c"],
        series=True,
        trials=np.repeat([hostile, "2"], 100),
        images=np.zeros((200, 1, 4, 4)),
        verdict=hostile,
        consistency=CONSISTENCY | {"verdict": hostile},
        settings={hostile: hostile},
        versions={hostile: hostile},
    )
    reader, content = read(report, tmp_path)
    assert len(reader.scripts) == 4
    assert not [attributes for _, attributes in reader.tags if "onerror" in attributes]
    assert content.count("<script>alert") == 0
    assert hostile in reader.text
    names = reader.figures["correlations"][0]["data"][0]["y"]
    assert len(set(names)) == 3
    assert all("<" not in name and "{" not in name and "(" not in name for name in names)


def test_one_component_and_one_factor(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).normal(size=(50, 1))
    reader, _ = read(
        Report(title="One", codes=codes, latents=-codes, series=True, images=np.zeros((50, 2, 4, 4))), tmp_path
    )
    assert "pairs" not in reader.ids
    assert {"factors", "correlations", "time", "pictures"} <= set(reader.ids)
    assert reader.figures["correlations"][0]["data"][0]["z"] == [[-1.0]]


def test_more_factors_than_components_and_few_samples(tmp_path: Path) -> None:
    latents = np.random.default_rng(0).normal(size=(6, 3))
    reader, _ = read(Report(title="Few", codes=latents[:, :2], latents=latents), tmp_path)
    titles = [states[0]["layout"]["title"]["text"] for name, states in reader.figures.items() if "factor" in name]
    assert sum(title.startswith("no component left: |r| = ") for title in titles) == 1
    assert all(len(states[0]["data"][0]["x"]) == 6 for name, states in reader.figures.items() if "factor" in name)
    assert all(len(states) == 1 for name, states in reader.figures.items() if "factor" in name)


def test_curves_may_be_constant_short_or_broken(tmp_path: Path) -> None:
    for losses in ([2.0, 2.0, 2.0], [2.0], [2.0, float("nan"), float("inf")]):
        curve = [{"step": step, "loss": loss} for step, loss in enumerate(losses)]
        reader, _ = read(small(curve=curve), tmp_path)
        (trace,) = reader.figures["loss"][0]["data"]
        assert trace["y"][0] == 2.0
        assert trace["y"][1:] == [2.0, 2.0][: len(losses) - 1] or trace["y"][1:] == [None, None]
        assert "scores" not in reader.figures


def test_the_assignment_puts_matches_on_the_diagonal(tmp_path: Path) -> None:
    reader, _ = read(everything(), tmp_path)
    before, after = (np.array(state["data"][0]["z"]) for state in reader.figures["correlations"])
    assert np.diag(after).max() < -0.99
    assert np.abs(np.diag(before[:, ::-1])).min() > 0.99
    assert reader.figures["correlations"][1]["data"][0]["x"] == ["component 3", "component 2", "component 1"]


def test_what_the_theory_leaves_open_decides_what_is_shown_first(tmp_path: Path) -> None:
    latents = np.random.default_rng(0).normal(size=(200, 3))
    for ambiguity, first in (("permutation", "One component"), ("rotation", "Affine map")):
        _, content = read(small(latents=latents, ambiguity=ambiguity), tmp_path)
        assert f'aria-pressed="true">{first}<' in content


def test_trials_are_runs_of_equal_labels(tmp_path: Path) -> None:
    clock = np.concatenate([np.arange(50), np.arange(70), np.arange(80)]) / 10
    reader, content = read(small(series=True, time=clock, trials=np.repeat(["a", "b", "a"], [50, 70, 80])), tmp_path)
    states = reader.figures["trajectories"]
    assert [len(state["data"][0]["x"]) for state in states] == [50, 70, 80]
    assert [state["data"][0]["x"][-1] for state in states] == [4.9, 6.9, 7.9]
    assert "<option>a</option><option>b</option><option>a [3]</option>" in content
    many, _ = read(small(series=True, trials=np.arange(200) // 10), tmp_path)
    assert "The first 12 of 20 trials can be chosen." in many.text


def test_a_long_series_is_shown_in_parts(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).normal(size=(9000, 3))
    reader, content = read(Report(title="Long", codes=codes, series=True), tmp_path)
    assert len(reader.figures["trajectories"]) == 3
    assert "<option>the beginning</option><option>the middle</option><option>the end</option>" in content


def test_components_beyond_the_first_can_be_chosen(tmp_path: Path) -> None:
    reader, _ = read(everything(factors=7), tmp_path)
    law = [[state["layout"]["yaxis"]["title"]["text"] for state in reader.figures[f"law-{i}"]] for i in range(5)]
    assert law == [[f"component {i + 1}", f"component {i + 3}"] for i in range(5)]
    assert len(reader.figures["channels"]) == 7
    assert len(reader.figures["trajectories"]) == 2 * 2  # groups of four components, two trials
    colours = ["position", "side", "trial", "time"]
    assert len(reader.figures["embedding"]) == 3 * len(colours)  # groups of three components
    assert [len(reader.figures[f"pair-{i}"]) for i in range(10)] == [2] * 10


def test_few_names_have_a_legend_and_numbers_a_bar(tmp_path: Path) -> None:
    reader, _ = read(everything(), tmp_path)
    position, side, trial, time = reader.figures["embedding"]
    assert [len(state["data"]) for state in (position, side, trial, time)] == [1, 2, 2, 1]
    assert [trace["name"] for trace in side["data"]] == ["left", "right"]
    assert side["layout"]["showlegend"]
    assert position["data"][0]["marker"]["showscale"]


def test_traversals_follow_one_component() -> None:
    codes = np.random.default_rng(0).normal(size=(4000, 2))
    images = np.zeros((4000, 3, 5, 5))
    images[:, 0] = (codes[:, :1, None] - codes[:, 0].min()) / np.ptp(codes[:, 0])
    strips = traversals(images, codes)
    assert [len(strip) for strip in strips] == [7, 7]
    values = [picture.code for picture in strips[0]]
    assert values == sorted(values)
    below = [(codes[:, 0] < value).mean() for value in values]
    assert np.allclose(below, np.linspace(0.02, 0.98, 7), atol=0.021)
    encoded = [base64.b64decode(picture.address.removeprefix("data:image/png;base64,")) for picture in strips[0]]
    reds = [np.asarray(Image.open(io.BytesIO(file)))[0, 0, 0] for file in encoded]
    assert sorted(reds) == reds
    assert reds[0] < reds[-1]
    others = [np.abs(codes[np.flatnonzero(codes[:, 0] == value)[0], 1]) for value in values]
    assert max(others) < 0.1


def test_each_factor_has_its_pictures_and_what_follows_it(tmp_path: Path) -> None:
    latents = np.random.default_rng(0).uniform(size=(200, 4))
    report = small(latents=latents, latent_names=["x", "y", "z", "hue"], **some_traversal(4, 3, 16))
    reader, content = read(report, tmp_path)
    shown = [attributes["alt"] for tag, attributes in reader.tags if tag == "img"]
    assert shown[:3] == ["x at -1", "x at -0.667", "x at -0.333"]
    assert len(shown) == 4 * 7
    (second,), (last,) = reader.figures["along-1"], reader.figures["along-3"]
    assert [trace["mode"] for trace in second["data"]] == ["lines", "lines", "lines+markers"]
    assert second["data"][-1]["y"] == pytest.approx(np.linspace(0, 1, 7), abs=1e-3)
    assert [trace["y"] for trace in second["data"][:2]] == [[0.5] * 7] * 2
    assert (second["layout"]["yaxis"]["title"]["text"], last["layout"]["yaxis"]["title"]["text"]) == (
        "component 2",
        "no component left",
    )
    alone, _ = read(dataclasses.replace(report, recovered=None), tmp_path)
    assert "along" in alone.ids
    assert not [name for name in alone.figures if name.startswith("along")]
    assert "rendered" in content


def test_pages_replace_each_other_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_page(small(), path)
    first = path.read_bytes()
    write_page(small(), path)
    assert path.read_bytes() == first
    assert [child.name for child in path.parent.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"codes": np.zeros(3)}, r"codes must have shape \[samples, components\], got \[3\]"),
        ({"codes": np.full((3, 2), np.nan)}, "codes must be finite"),
        ({"latents": np.zeros((9, 2))}, "latents must be as many as codes, 200, got 9"),
        ({"latents": np.zeros(200)}, r"latents must have shape \[samples, factors\], got \[200\]"),
        ({"images": np.zeros((200, 4))}, r"images must have shape .* got \[200, 4\]"),
        ({"trials": np.zeros(9)}, "trials must be as many as codes, 200, got 9"),
        ({"time": np.zeros(9)}, "time must be as many as codes, 200, got 9"),
        ({"colours": {"place": np.zeros(9)}}, "colours 'place' must be as many as codes, 200, got 9"),
        ({"component_names": ["a"]}, "component_names must be 3, a name for each column, got 1"),
        (some_traversal(3, 3, 16), "traversal must have pictures along 0 factors, those of latents, got 3"),
    ],
)
def test_parts_must_fit_together(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(**parts)


def test_a_stored_run_becomes_a_report(tmp_path: Path) -> None:
    latents = np.random.default_rng(0).uniform(size=(100, 2)).astype(np.float32)
    row = ROWS["t1-01"]
    run = row.run(0, steps=10)
    record = {
        "kind": "unsupervised",
        "source": str(row.source),
        "learner": str(row.learner),
        "description": f"{row.source.describe()} {row.learner.describe()}",
        "identified_up_to": row.learner.ambiguity,
        "factors": ["speed", "angle"],
        "seed": 0,
        "steps": 10,
        "seconds": 12.3,
        "scores": {
            "mcc": {"value": 60.0, "chance": 5.0, "per_factor": [50.0, 70.0]},
            "r2": {"value": 99.1, "chance": -0.5, "per_factor": [99.0, 99.2]},
        },
        "identity": {"r2": 66.0, "mcc": 50.0},
        "curve": [{"step": 1, "loss": 1.0, "r2": 99.1, "mcc": 60.0}],
        "settings": run.settings,
        "versions": {"identica": "0.1.0"},
        "machine": {"cores": 2},
    }
    report = report_of_run(record, {"factors": latents, "codes": latents[:, ::-1]})
    assert report.summary == [
        ("R²", "99.10 %"),
        ("R² in the paper", "99.42 %"),
        ("MCC", "60.00 %"),
        ("R² of the observations", "66.00 %"),
        ("R² by chance", "-0.50 %"),
        ("training", "12 s"),
    ]
    assert report.ambiguity == "rotation"
    assert report.title == "t1-01, w1-01: sphere, uniform, vmf(kappa=1)"
    assert report.names_of_latents == ["speed", "angle"]
    assert "The encoder saw pairs of observations alone, and assumed: sphere, vmf." in report.lead
    reader, _ = read(report, tmp_path)
    assert {"training", "factors", "settings"} <= set(reader.ids)
    labels = row.baseline(0, steps=10)
    labelled = record | {"kind": "supervised", "settings": labels.settings, "learner": str(labels.learner)}
    labelled |= {"identified_up_to": labels.learner.ambiguity}
    page = report_of_run(labelled, {"factors": latents, "codes": latents})
    assert page.ambiguity == "permutation"
    assert page.title == "sphere, supervised: sphere, uniform, vmf(kappa=1)"
    assert page.summary[0] == ("MCC", "60.00 %")


def test_pictures_of_a_stored_run_are_those_of_its_first_codes() -> None:
    factors = np.random.default_rng(0).uniform(size=(40, 2))
    row = ROWS["t1-01"]
    record = {
        "source": str(row.source),
        "learner": str(row.learner),
        "description": "",
        "identified_up_to": "rotation",
        "factors": ["a", "b"],
        "scores": {"r2": {"value": 99.1, "chance": -0.5}},
        "identity": {},
        "curve": [],
        "settings": row.run(0).settings,
        "versions": {},
    }
    images = np.zeros((40, 1, 8, 8), np.uint8)
    for observations, shown in ((images, True), (images[:20], True), (factors, False)):
        report = report_of_run(record, {"factors": factors, "codes": factors, "observations": observations})
        assert (report.images is not None) == shown


@pytest.fixture(scope="module")
def fitted() -> tuple[ContrastiveICA, np.ndarray]:
    x = np.cumsum(np.random.default_rng(0).normal(size=(300, 2)), axis=0)
    return ContrastiveICA(2, max_steps=5, lag=1, validation_fraction=0.1, random_state=0).fit(x), x


def test_a_fit_becomes_a_report(tmp_path: Path, fitted: tuple[ContrastiveICA, np.ndarray]) -> None:
    model, x = fitted
    truth = pd.DataFrame(x, columns=["speed", "angle"])
    report = report_of_fit(model, x, latents=truth, consistency=CONSISTENCY, seconds=2.0)
    assert report.series
    assert dict(report.summary)["bits a pair, held out"] == f"{model.validation_score_:.2f}"
    assert dict(report.summary)["bits a pair, fitted"] == f"{model.fitted_bits_:.2f}"
    assert report.summary[0][0] == "MCC"
    assert report.chosen == model.chosen_
    assert report.held_out_pairs == model.n_held_out_pairs_ > 0
    assert report.names_of_latents == ["speed", "angle"]
    assert "permutation" in report.lead
    assert report.settings["steps"] == 5
    assert report.facts["pairs held out"] == model.n_held_out_pairs_
    assert report.facts["columns used"] == "2"
    assert report.differences is not None
    assert report.differences.held_out
    assert report.attribution is not None
    reader, _ = read(report, tmp_path)
    shown = {"data", "training", "trust", "law", "marginals", "factors", "channels", "time", "embedding", "refits"}
    assert shown <= set(reader.ids)
    assert [trace["name"] for trace in reader.figures["loss"][0]["data"]] == ["fitted pairs", "held-out pairs"]
    assert dataclasses.replace(report, series=False).series is False


def test_pipelines_and_unordered_pairs_make_reports_too(fitted: tuple[ContrastiveICA, np.ndarray]) -> None:
    model, x = fitted
    line = make_pipeline(StandardScaler(), model).fit(x)
    report = report_of_fit(line, x, series=False, title="Scaled")
    assert (report.title, report.series, report.latents) == ("Scaled", False, None)
    assert np.allclose(report.codes, line.transform(x))


def test_images_are_kept_for_traversals() -> None:
    x = np.random.default_rng(0).integers(256, size=(80, 1, 16, 16), dtype=np.uint8)
    model = ContrastiveICA(2, encoder="conv", max_steps=1, lag=1, random_state=0).fit(x)
    report = report_of_fit(model, x)
    assert report.images is not None
    assert report.images.shape == x.shape


def test_widths_are_drawn_and_spare_components_named(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).uniform(size=(50, 3))
    reader, content = read(small(widths=[0.1, np.inf, 0.3], used=[0, 2]), tmp_path)
    assert "widths" in reader.ids
    assert reader.figures["widths"][0]["data"][0]["y"] == [0.1, None, 0.3]
    assert "Spare, and not drawn: component 2." in content
    with pytest.raises(InputError, match="widths must be 3, one for each component, got 1"):
        Report(title="widths", codes=codes, widths=[0.1])
