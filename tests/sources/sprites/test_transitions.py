from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from identica._checks import InputError
from identica.sources.sprites import Transitions, read_transitions

CSV = """id,category,frame 0,frame 1,frame 2,frame 3
7,1,"[[10, 20, 100], None]","[[11, 22, 90], [1, 2, 3]]","[[], [2, 3, 4.5]]",
8,2,,"[(5, 6, 7)]","[(6, 7, 8)]","[(7, 8, 9)]"
"""


def some(count: int = 1000, seed: int = 0) -> Transitions:
    generator = np.random.default_rng(seed)
    return Transitions(
        np.stack([*generator.uniform(0, 64, (2, count, 2)), generator.exponential(99, (count, 2))], axis=2)
    )


def test_objects_that_stay_in_view_are_transitions(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(CSV, encoding="utf-8")
    assert read_transitions(tmp_path / "x.csv").measured.tolist() == [
        [[20, 10, 100], [22, 11, 90]],
        [[2, 1, 3], [3, 2, 4.5]],
        [[6, 5, 7], [7, 6, 8]],
        [[7, 6, 8], [8, 7, 9]],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c\n", "must hold objects in consecutive frames, got none"),
        ('a,b,c\n1,2,"[[1, 2]]"\n', r"cells of .* must be like '\[\[y, x, area\], None\]', got '\[\[1, 2\]\]'"),
        ('a,b,c\n1,2,"open(1)"\n', "got 'open"),
        ('a,b,c\n1,2,"5"\n', "got '5'"),
        ('a,b,c,d\n1,2,"[[1, 2, 0]]","[[1, 2, 0]]"\n', "areas above 0"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_transitions(tmp_path / "x.csv")


def test_cells_are_read_and_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"a,b,c\n1,2,\"[__import__('pathlib').Path('{mark}').touch()]\"\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="cells of"):
        read_transitions(tmp_path / "x.csv")
    assert not mark.exists()


def test_missing_and_binary_files(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    for name in ("x.csv", "none.csv"):
        with pytest.raises(InputError, match="cannot be read as a csv of transitions"):
            read_transitions(tmp_path / name)


def test_outliers_of_either_frame_are_cut() -> None:
    whole = some()
    kept = whole.without_outliers(0.05).measured
    low, high = np.quantile(whole.measured[..., 2], (0.05, 0.95), axis=0)
    inside = [move for move in whole.measured if (low <= move[:, 2]).all() and (move[:, 2] <= high).all()]
    assert np.array_equal(kept, inside)
    assert 0.8 < len(kept) / len(whole) < 0.85
    assert len(whole.without_outliers(0)) == len(whole)
    with pytest.raises(InputError, match=r"part must be from 0 to below 0\.5, got 0\.5"):
        whole.without_outliers(0.5)


def test_bins_are_as_wide_as_each_other_and_hold_the_values() -> None:
    whole = some()
    binned, centres = whole.binned((32, 32, 6))
    assert [len(one) for one in centres] == [32, 32, 6]
    for column, middle in enumerate(centres):
        values, widths = whole.measured[..., column], np.diff(middle)
        assert widths == pytest.approx(np.ptp(values) / len(middle))
        nearest = middle[np.abs(values[..., None] - middle).argmin(axis=2)]
        assert binned.measured[..., column] == pytest.approx(nearest)


def test_places_are_in_frames_and_scales_are_sides() -> None:
    found = Transitions(np.array([[[32.0, 16.0, 64.0], [64.0, 0.0, 4096.0]]])).places_and_scales()
    assert found.tolist() == [[[0.5, 0.25, 0.125], [1.0, 0.0, 1.0]]]


@pytest.mark.parametrize("measured", [np.zeros((0, 2, 3)), np.ones((4, 3)), np.full((1, 2, 3), np.nan)])
def test_what_is_no_transition(measured: np.ndarray) -> None:
    with pytest.raises(InputError, match="measured must be"):
        Transitions(measured)
