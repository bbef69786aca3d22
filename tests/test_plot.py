from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from identica import ContrastiveICA, consistency, plot
from identica._checks import InputError
from identica.attribution import Attribution, attribute
from identica.validation import Differences, partner_differences

RANDOM = np.random.default_rng(0)
Z = RANDOM.uniform(size=(600, 3))
MOVED = np.abs((Z + RANDOM.laplace(scale=0.05, size=Z.shape) + 1) % 2 - 1)
TRIALS = np.repeat(["a", "b", "c"], 200)


@pytest.fixture(autouse=True)
def pyplot() -> Iterator[Any]:
    mpl.use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> ContrastiveICA:
    return ContrastiveICA(3, max_steps=60, batch_size=128, validation_fraction=0.2, random_state=0).fit(Z, MOVED)


def texts(panels: Any) -> list[str]:
    figure = np.atleast_1d(panels)[0].figure
    figure.canvas.draw()
    return [one.get_text() for one in figure.findobj(mpl.text.Text) if one.get_text()]


def overlapping(figure: Any) -> list[tuple[str, str]]:
    """Pairs of texts of a figure that lie upon each other."""
    figure.canvas.draw()
    shown = [one for panel in figure.axes for one in words_of(panel) if one.get_text().strip() and one.get_visible()]
    boxes = [(one.get_text(), one.get_window_extent()) for one in shown]
    return [
        (text, other)
        for place, (text, box) in enumerate(boxes)
        for other, beside in boxes[:place]
        if min(box.x1, beside.x1) - max(box.x0, beside.x0) > 2 and min(box.y1, beside.y1) - max(box.y0, beside.y0) > 2
    ]


def words_of(panel: Any) -> list[Any]:
    """Title, labels, and those ticks of a panel that can be seen."""
    found = [panel.title, panel.xaxis.label, panel.yaxis.label, *panel.texts]
    for axis in (panel.xaxis, panel.yaxis):
        low, high = sorted(axis.get_view_interval())
        found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return found + (panel.get_legend().get_texts() if panel.get_legend() else [])


def test_recovered_factors_lie_on_lines() -> None:
    panels = plot.recovered(Z, -Z[:, ::-1])
    assert len(panels) == 3
    assert texts(panels).count("|r| = 1.000") == 3
    assert [panel.get_ylabel() for panel in panels] == ["component 3", "component 2", "component 1"]
    assert overlapping(panels[0].figure) == []
    for line in (panel.lines[0] for panel in panels):
        assert np.allclose(np.diff(line.get_xdata() + line.get_ydata()), 0)


def test_a_factor_without_a_component_is_said() -> None:
    assert "no component left" in texts(plot.recovered(Z, Z[:, :2]))


@pytest.mark.parametrize("trials", [None, TRIALS])
def test_trials_are_drawn_apart(trials: Any) -> None:
    panels = plot.over_time(Z, np.tile(np.arange(200) / 10, 3) if trials is not None else None, trials)
    assert [len(panel.lines) for panel in panels] == [1 if trials is None else 3] * 3
    starts = [line.get_xdata()[0] for line in panels[0].lines]
    ends = [line.get_xdata()[-1] for line in panels[0].lines]
    assert all(start > end for start, end in zip(starts[1:], ends, strict=False))
    assert overlapping(panels[0].figure) == []


def test_axes_that_are_given_are_drawn_into(pyplot: Any) -> None:
    _, given = pyplot.subplots(1, 3)
    assert list(plot.recovered(Z, Z, axes=given)) == list(given)
    assert len(pyplot.get_fignums()) == 1
    _, single = pyplot.subplots()
    assert plot.embedding(Z[:, :2], axes=single) is single
    with pytest.raises(InputError, match="axes must be 3, one for each panel, got 1"):
        plot.recovered(Z, Z, axes=single)


def test_runs_that_agree_are_shown_so() -> None:
    panel = plot.agreement(consistency([Z, -Z[:, ::-1], Z]))
    assert texts(panel).count("1.00") == 9
    assert overlapping(panel.figure) == []


@pytest.mark.parametrize("color", [None, np.arange(600.0), TRIALS])
@pytest.mark.parametrize("count", [2, 3])
def test_embeddings_are_coloured(color: Any, count: int) -> None:
    panel = plot.embedding(Z[:, :count], color)
    assert panel.name == ("3d" if count == 3 else "rectilinear")
    assert sum(len(one.get_offsets()) for one in panel.collections) == 600
    named = {one.get_text() for one in panel.get_legend().get_texts()} if panel.get_legend() else set()
    assert named == (set("abc") if color is TRIALS else set())


def test_one_component_has_no_embedding() -> None:
    with pytest.raises(InputError, match="components must name two or three of the 1 components"):
        plot.embedding(Z[:, :1])


def test_partners_that_follow_the_law_lie_on_the_line(model: ContrastiveICA) -> None:
    found = partner_differences(model, Z, MOVED)
    assert (found.held_out, found.components, found.pairs) == (True, (0, 1, 2), model.n_held_out_pairs_)
    panels = plot.assumption(found)
    assert len(panels) == 3
    assert overlapping(panels[0].figure) == []
    wrong = partner_differences(model, Z, np.random.default_rng(1).permutation(MOVED))
    assert wrong.gaps.min() > 2 * found.gaps.max()


def test_spare_components_are_left_out(model: ContrastiveICA) -> None:
    class Spare:
        scales = np.array([20.0, 0.0, 20.0])

    kept = model.scales_
    model.scales_ = Spare.scales
    try:
        assert partner_differences(model, Z, MOVED).components == (0, 2)
    finally:
        model.scales_ = kept


@pytest.mark.parametrize("space", ["sphere", "unbounded"])
def test_every_space_has_differences(space: str) -> None:
    conditional = "vmf" if space == "sphere" else "normal"
    fitted = ContrastiveICA(3, space=space, conditional=conditional, max_steps=3, random_state=0).fit(Z, MOVED)
    found = partner_differences(fitted, Z, MOVED)
    assert isinstance(found, Differences)
    assert not found.held_out
    assert np.isfinite(found.expected).all()


def test_channels_are_named(model: ContrastiveICA) -> None:
    panel = plot.channels(attribute(model, Z), most=2)
    assert {label.get_text() for label in panel.get_xticklabels()} < {"x0", "x1", "x2"}
    assert len(panel.get_xticklabels()) == 2
    with pytest.raises(InputError, match="attribution must be of channels"):
        plot.channels(Attribution(np.zeros((2, 1, 4, 4))))


def test_a_notebook_shows_the_verdict(model: ContrastiveICA) -> None:
    shown = model._repr_mimebundle_()
    assert model.verdict_.finding in shown["text/html"].split("<style")[0]
    assert shown["text/plain"] == repr(model)
    assert "partners differ by laplace" in model._repr_html_()
    assert "partners differ" not in ContrastiveICA(2)._repr_html_()
