from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.experiments.restore import known_types
from identica.sources import DSprites, GridPairs
from identica.sources.sprites import DSPRITES_GRID, dsprites_values, read_dsprites

NAMES = ["shape", "scale", "orientation", "x", "y"]
KINDS = ["categorical", "ordinal", "circular", "ordinal", "ordinal"]


def write_part(path: Path, places: np.ndarray, **changed: Any) -> None:
    """A file like the parts of dSprites, with pictures that hold their place in bits."""
    classes = np.stack(np.unravel_index(places, DSPRITES_GRID.whole), axis=1)
    values = np.stack([column.numpy()[classes[:, k]] for k, column in enumerate(dsprites_values())], axis=1)
    pixels = np.zeros((len(places), 64, 64), np.uint8)
    pixels[:, 0, :32] = (places[:, None] >> np.arange(32)) & 1
    arrays = {"imgs": pixels, "latents_values": values, "original_dataset_indices": places}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **(arrays | changed))


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    places = np.random.default_rng(0).choice(DSPRITES_GRID.count, 2000, replace=False)
    write_part(DSprites(data="subset").path, places)
    return DSprites(data="subset").path


@pytest.fixture(scope="module")
def real() -> dict[str, GridPairs]:
    folder = Path(os.environ.get("IDENTICA_DATA", "/nonexistent")) / "dsprites"
    if not folder.is_dir():
        pytest.skip("needs IDENTICA_DATA, a folder that has dsprites/")
    return {data: DSprites(data=data).build(0) for data in ("downsampled", "subset")}  # type: ignore[arg-type]


def test_values_are_the_official_ones() -> None:
    shape, scale, angle, x, y = dsprites_values()
    assert shape.tolist() == [1, 2, 3]
    assert scale.tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert (float(angle[-1]), len(angle)) == (pytest.approx(2 * math.pi), 40)
    assert (float(x[1]), float(y[-1])) == (pytest.approx(1 / 31), 1)


def test_factors_and_images_belong_together(made_up: Path, generator: torch.Generator) -> None:
    source = DSprites(data="subset").build(0)
    assert [factor.name for factor in source.factors] == NAMES
    assert [factor.kind for factor in source.factors] == KINDS
    assert source.shape == (1, 64, 64)
    factors, images = source.with_factors(100, generator)
    places = (images[:, 0, 0, :32].long() << torch.arange(32)).sum(dim=1)
    classes = DSPRITES_GRID.classes(places)
    expected = [column[classes[:, k]] for k, column in enumerate(dsprites_values())]
    assert torch.allclose(factors, torch.stack(expected, dim=1).float())


@pytest.mark.parametrize(
    "changed",
    [
        {"original_dataset_indices": np.arange(5)},
        {"original_dataset_indices": np.full(6, 3)},
        {"original_dataset_indices": np.arange(6) + DSPRITES_GRID.count},
        {"latents_values": np.zeros((6, 5))},
    ],
)
def test_other_files_are_refused(tmp_path: Path, changed: dict[str, np.ndarray]) -> None:
    write_part(tmp_path / "x.npz", np.arange(6), **changed)
    with pytest.raises(InputError, match=r"x\.npz' must"):
        read_dsprites(tmp_path / "x.npz")


def test_a_missing_file_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=r"co1sh3sc6or40x32y32_64x64\.npz', which is not there: `identica download dsp"
    ):
        DSprites().build(0)
    with pytest.raises(InputError, match="data='subset' needs the file"):
        DSprites(data="subset").build(0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pairs": "LAPLACE"}, "unknown pairs 'LAPLACE': did you mean 'LAP'"),
        ({"data": "half"}, "unknown data 'half'"),
        ({"rate": 0}, "rate must be a finite number above 0"),
        ({"pairs": "UNI", "rate": 2.0}, "rate must be 1 unless pairs are 'LAP', got 2 with 'UNI'"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        DSprites(**settings)


def test_names_say_which_images_and_which_pairs() -> None:
    assert str(DSprites()) == "dSprites, LAP pairs"
    assert str(DSprites("UNI", "subset")) == "dSprites (20 000 random images), UNI pairs"
    assert str(DSprites("LAP", "downsampled", 2.0).unpaired()) == "dSprites (every 4th orientation, 2nd x and y)"
    assert "rate 2" in str(DSprites(rate=2.0))
    assert "as far as such images are there" in DSprites("UNI", "subset").describe()


def test_settings_are_plain_data() -> None:
    settings = DSprites("UNI", "downsampled")
    assert from_plain(to_plain(settings), known_types()) == settings
    assert to_plain(DSprites()) == {"type": "DSprites"}


def test_the_real_parts_are_as_large_as_they_say(real: dict[str, GridPairs]) -> None:
    assert real["downsampled"].grid.sizes == (3, 6, 10, 16, 16)
    assert len(real["downsampled"]) == real["downsampled"].grid.count == 46_080
    assert real["subset"].grid.sizes == DSPRITES_GRID.whole
    assert len(real["subset"]) == 20_000


def test_real_sprites_lie_where_their_factors_say(real: dict[str, GridPairs], generator: torch.Generator) -> None:
    for source in real.values():
        factors, images = source.with_factors(500, generator)
        assert images.unique().tolist() == [0, 1]
        weights = images[:, 0] / images.sum(dim=(2, 3))[:, :, None]
        across, down = (weights.sum(dim=dim) @ torch.arange(64.0) for dim in (1, 2))
        for place, column in ((across, 3), (down, 4)):
            assert torch.corrcoef(torch.stack([place, factors[:, column]]))[0, 1] > 0.99


@pytest.mark.parametrize("row", [17, 9_999])
def test_pairs_of_the_real_subset_follow_the_law_given_its_images(
    row: int, real: dict[str, GridPairs], generator: torch.Generator
) -> None:
    source = real["subset"]
    partners = source.partners(torch.full((3000,), row), generator)
    expected = source.probabilities(row).numpy()
    # Partners from the likeliest down, in groups of about the same probability.
    order = np.argsort(-expected)
    group = np.empty(len(expected), dtype=int)
    group[order] = np.minimum((expected[order].cumsum() * 30).astype(int), 29)
    counts = np.bincount(group[partners.numpy()], minlength=30)
    chances = np.bincount(group, weights=expected, minlength=30)
    filled = chances > 0
    assert stats.chisquare(counts[filled], 3000 * chances[filled] / chances.sum()).pvalue > 0.01


def test_pairs_of_the_real_grid_move_in_its_own_steps(real: dict[str, GridPairs], generator: torch.Generator) -> None:
    source = real["downsampled"]
    rows = torch.randint(len(source), (4000,), generator=generator)
    moves = (source.classes[source.partners(rows, generator)] - source.classes[rows]).abs()
    assert moves[:, 0].max() == 0
    assert (moves.sum(dim=1) > 0).all()
    # An orientation of this grid is 4 of the whole one, an x 2: a step has 4 / log 40 or 2 / log 32 scales.
    middle = source.classes[rows][:, 2] == 5
    ones, twos = ((moves[middle, 2] == step).sum() for step in (1, 2))
    assert float(twos / ones) == pytest.approx(math.exp(-4 / math.log(40)), abs=0.1)


def test_the_page_shows_what_its_code_prints(real: dict[str, GridPairs], capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "sprites.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()  # type: ignore[union-attr]
    exec(code, {})
    assert capsys.readouterr().out == shown
