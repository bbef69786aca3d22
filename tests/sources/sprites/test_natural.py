from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.experiments.restore import known_types
from identica.sources import NaturalPairs, NaturalSprites
from identica.sources.sprites import draw_sprites

CSV = Path("natural_sprites") / "downscale_keepaspect.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Made-up measurements: 300 objects that drift to the right and grow."""
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    generator = np.random.default_rng(0)
    x, y, area = generator.uniform(10, 50, 300), generator.uniform(10, 54, 300), generator.uniform(50, 500, 300)
    cells = (f'"[[{b}, {a}, {c}]]","[[{b}, {a + 4}, {c * 1.2}]]"' for a, b, c in zip(x, y, area, strict=True))
    text = "id,category,0,1\n" + "".join(f"{row},1,{cell}\n" for row, cell in enumerate(cells))
    (tmp_path / CSV).parent.mkdir()
    (tmp_path / CSV).write_text(text, encoding="utf-8")
    return tmp_path


def drawn_again(factors: torch.Tensor) -> torch.Tensor:
    shapes, scales, angles, x, y = factors.double().numpy().T
    return torch.from_numpy(draw_sprites(shapes.astype(np.int64), scales, angles, x, y))[:, None].float() / 255


def test_pairs_move_as_measured_and_keep_their_look(folder: Path, generator: torch.Generator) -> None:
    source = NaturalSprites(drawn=200).build(0)
    before, after = source.pool_factors.unbind(dim=1)
    assert torch.equal(before[:, [0, 2]], after[:, [0, 2]])
    assert (after - before)[:, 3].numpy() == pytest.approx(4 / 64)
    assert (after / before)[:, 1].numpy() == pytest.approx(math.sqrt(1.2))
    assert (after - before)[:, 4].abs().max() < 1e-12
    anchors, positives = source.pairs(300, generator)
    assert anchors.shape == positives.shape == (300, 1, 64, 64)
    assert anchors.min() == 0
    assert anchors.max() == 1
    across = torch.arange(64.0)
    places = [(x[:, 0].sum(dim=1) @ across) / x.sum(dim=(1, 2, 3)) for x in (anchors, positives)]
    assert float((places[1] - places[0]).median()) == pytest.approx(4, abs=0.1)


def test_each_transition_comes_once_before_any_comes_twice(folder: Path) -> None:
    source = NaturalSprites(drawn=600).build(0)
    places, counts = source.pool_factors[:, 0, 3:].unique(dim=0, return_counts=True)
    assert len(places) == len(source.moves) < 300
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("version", ["continuous", "discrete"])
def test_single_sprites_are_drawn_from_their_factors(version: Any, folder: Path, generator: torch.Generator) -> None:
    source = NaturalSprites(version, drawn=10).build(0)
    factors, pictures = source.with_factors(200, generator)
    assert (pictures - drawn_again(factors)).abs().mean() < 1e-3
    assert [factor.name for factor in source.factors] == ["shape", "scale", "orientation", "x", "y"]
    kind = "ordinal" if version == "discrete" else "continuous"
    assert [factor.kind for factor in source.factors] == ["categorical", kind, "circular", kind, kind]
    assert factors[:, 0].unique().tolist() == [0, 1, 2, 3]
    turns = factors[:, 2] / (2 * math.pi / 40)
    assert (turns - turns.round()).abs().max() < 1e-4


def test_bins_are_as_many_as_published(folder: Path, generator: torch.Generator) -> None:
    source = NaturalSprites("discrete", drawn=10).build(0)
    factors, _ = source.with_factors(3000, generator)
    assert [len(factors[:, column].unique()) for column in range(5)] == [4, 6, 40, 32, 32]
    assert torch.corrcoef(factors[:, [1, 3, 4]].T).fill_diagonal_(0).abs().max() < 0.08


@pytest.mark.parametrize("version", ["continuous", "discrete"])
@pytest.mark.parametrize("factor", range(5))
def test_groups_share_one_factor(version: Any, factor: int, folder: Path, generator: torch.Generator) -> None:
    source = NaturalSprites(version, drawn=10).build(0)
    factors, pictures = source.with_fixed(factor, 12, generator, groups=6)
    assert factors.shape == (6, 12, 5)
    assert pictures.shape == (6, 12, 1, 64, 64)
    assert (pictures.flatten(0, 1) - drawn_again(factors.flatten(0, 1))).abs().mean() < 1e-3
    spread = factors.amax(dim=1) - factors.amin(dim=1)
    assert (spread[:, factor] == 0).all()
    assert (spread.sum(dim=0) > 0).sum() == 4
    with pytest.raises(InputError, match="factor must be a whole number from 0 to 4, got 5"):
        source.with_fixed(5, 2, generator)


def test_the_same_seed_draws_the_same_and_another_one_does_not(folder: Path) -> None:
    first, again, other = (NaturalSprites(drawn=20).build(seed) for seed in (0, 0, 1))
    assert torch.equal(first.pool, again.pool)
    assert not torch.equal(first.pool, other.pool)
    draws = [first.with_factors(5, torch.Generator().manual_seed(2))[1] for _ in range(2)]
    assert torch.equal(*draws)


def test_a_sample_has_each_pair_once_at_most(folder: Path, generator: torch.Generator) -> None:
    source = NaturalSprites(drawn=30).build(0)
    assert isinstance(source, NaturalPairs)
    assert source.sample(100, generator).shape == (30, 1, 64, 64)
    assert len(source.distinct_pairs(10, generator)[0]) == 10


def test_names_say_where_transitions_are_from() -> None:
    assert str(NaturalSprites()) == "Natural Sprites (continuous), transitions: YouTube-VOS"
    measured = NaturalSprites("discrete", "mots", drawn=100)
    assert str(measured) == "Natural Sprites (discrete), transitions: kitti-mots + mots, 100 pairs"
    assert "transitions: kitti-mots + mots" in measured.describe()
    assert from_plain(to_plain(measured), known_types()) == measured


def test_a_missing_table_says_what_else_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    with pytest.raises(InputError, match="`identica download natural-sprites` fetches it; transitions='mots' measures"):
        NaturalSprites().build(0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"version": "both"}, "unknown version 'both'"),
        ({"transitions": "vos"}, "unknown transitions 'vos'"),
        ({"drawn": 1}, "drawn must be at least 2, got 1"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        NaturalSprites(**settings)
