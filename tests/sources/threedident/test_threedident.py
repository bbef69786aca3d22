from __future__ import annotations

from pathlib import Path

import pytest
import torch
from scenes import write_data_set, write_scenes
from torch import Generator

from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.experiments.restore import known_types
from identica.laws import Laplace, Normal
from identica.sources import DSprites, ThreeDIdent
from identica.sources.threedident import MatchedPairs, Matcher, ScenePairs, SimCLRViews, read_scenes
from identica.spaces import Box, Real


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    write_data_set(tmp_path)
    return tmp_path


def laptop(pairs: object = Normal(0.1), **settings: object) -> ThreeDIdent:
    return ThreeDIdent(pairs, "laptop", **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("search", ["exact", "ivf"])
def test_matches_are_the_nearest_others(search: str, generator: Generator) -> None:
    pytest.importorskip("faiss")
    known, wanted = torch.rand(400, 10, generator=generator), torch.rand(300, 10, generator=generator)
    without = torch.cdist(wanted, known).argmin(dim=1)
    without[::2] = torch.randint(400, (150,), generator=generator)
    distances = torch.cdist(wanted, known)
    distances[torch.arange(300), without] = torch.inf
    found = Matcher(known, search).nearest(wanted, without)  # type: ignore[arg-type]
    assert torch.equal(found, distances.argmin(dim=1))


def test_partners_of_a_law_are_near_and_other_images(data: Path, generator: Generator) -> None:
    pytest.importorskip("faiss")
    source = laptop().build(0)
    assert isinstance(source.pairing, MatchedPairs)
    rows = torch.arange(200)
    partners = source.pairing.partners(source.training, rows, generator)
    assert (partners != rows).all()
    latents = source.training.latents
    near = (latents[partners] - latents).norm(dim=1)
    assert near.mean() < 0.7 * (latents.roll(1, 0) - latents).norm(dim=1).mean()
    first, second = source.pairs(7, generator)
    assert first.shape == second.shape == (7, 3, 16, 16)
    assert not torch.equal(first, second)


def test_the_same_generator_gives_the_same_pairs(data: Path) -> None:
    pytest.importorskip("faiss")
    pytest.importorskip("kornia")
    for pairs in (Laplace(0.1), "augmentations"):
        source = laptop(pairs).build(0)
        drawn = [source.pairs(5, Generator().manual_seed(seed)) for seed in (1, 1, 2)]
        assert torch.equal(drawn[0][1], drawn[1][1])
        assert not torch.equal(drawn[0][1], drawn[2][1])


def test_views_of_an_image_differ_and_leave_the_global_generator_alone(data: Path, generator: Generator) -> None:
    pytest.importorskip("kornia")
    source = laptop("augmentations").build(0)
    before = torch.get_rng_state()
    first, second = source.pairs(32, generator)
    assert torch.equal(torch.get_rng_state(), before)
    assert first.shape == (32, 3, 16, 16)
    assert 0 <= float(first.min()) < float(first.max()) <= 1
    assert (first != second).flatten(1).any(dim=1).all()
    grey = (first[:, 0] - first[:, 1]).abs().flatten(1).amax(dim=1) < 1e-6
    assert 0 < int(grey.sum()) < 20


def test_views_are_parts_of_the_image(generator: Generator) -> None:
    pytest.importorskip("kornia")
    black = torch.zeros(8, 3, 16, 16)
    assert float(SimCLRViews((16, 16)).views(black, generator).max()) < 1e-6


def test_rendered_partners_are_those_of_the_folder(data: Path, generator: Generator) -> None:
    folder = data / "3dident" / "laptop-normal" / "train"
    write_scenes(folder, 200, 0)
    write_scenes(folder, 200, 5, prefix="partner_")
    source = laptop(matching="rendered").build(0)
    first, second = source.pairs(4, generator)
    rows = [int((source.training.floats(torch.arange(200)) == one).flatten(1).all(dim=1).nonzero()) for one in first]
    assert torch.equal(second, read_scenes(folder, "partner_").floats(torch.tensor(rows)))


def test_test_images_are_kept_apart(data: Path, generator: Generator) -> None:
    source = laptop(None).build(0)
    factors, images = source.with_factors(6, generator)
    assert factors.shape == (6, 10)
    rows = torch.cdist(factors, source.training.latents).argmin(dim=1)
    assert torch.equal(source.training.floats(rows), images)
    assert torch.equal(source.scored_factors("test"), source.test.latents)
    assert torch.equal(source.scored_factors("training"), source.training.latents[:60])
    assert torch.equal(torch.cat(list(source.scored("training"))), source.training.floats(torch.arange(60)))
    assert sum(map(len, source.scored("test", most=9))) == 9
    assert {factor.kind for factor in source.factors} == {"continuous"}
    with pytest.raises(InputError, match="pairing must be given to draw pairs"):
        source.pairs(2, generator)


def test_settings_name_what_is_there(data: Path) -> None:
    full = ThreeDIdent(Laplace(0.1))
    here = full.available()
    assert (str(full), str(here)) == (
        "3DIdent, laplace(scale=0.1) pairs",
        "3DIdent (200 images of 16 × 16), laplace(scale=0.1) pairs",
    )
    assert str(here.rendered()).endswith("laplace(scale=0.1) (rendered) pairs")
    assert here.published() == here.rendered().published() == full
    assert here.rendered().unpaired() == here.unpaired()
    assert here.baseline_space(Box(10)) == Real(10)
    assert from_plain(to_plain(here), known_types()) == here
    assert str(ThreeDIdent("augmentations")) == "3DIdent, augmentations"


def test_a_missing_folder_names_the_command_that_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTICA_DATA", str(tmp_path))
    with pytest.raises(InputError) as caught:
        ThreeDIdent().available().rendered().build(0)
    folder = tmp_path / "3dident" / "laptop-normal" / "train"
    assert f"needs the folder {str(folder)!r}, which is not there" in str(caught.value)
    assert "`identica render --count 50000 --size 64 --layout array --seed 0 --pairs 'normal(sigma=0.1)'" in str(
        caught.value
    )


def test_bad_settings_are_refused(data: Path) -> None:
    for make, message in (
        (lambda: ThreeDIdent(Normal(0.1), "small"), "unknown data 'small'"),  # type: ignore[arg-type]
        (lambda: ThreeDIdent("crops"), "unknown pairs 'crops'"),  # type: ignore[arg-type]
        (lambda: ThreeDIdent(None, matching="ivf"), "matching must be 'exact' unless pairs are a law"),
        (lambda: ThreeDIdent("augmentations").rendered(), "can be rendered outright for 3DIdent with a law"),
        (lambda: DSprites().rendered(), "can be rendered outright for 3DIdent with a law"),
        (lambda: laptop(None, images=7).build(0), "must hold 7 images of height 16, got 200 of height 16"),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert message in str(caught.value)


def test_shapes_of_parts_must_agree(data: Path) -> None:
    source = laptop(None).build(0)
    write_scenes(data / "larger", 4, size=20)
    with pytest.raises(InputError, match="must have one shape"):
        ScenePairs(source.training, read_scenes(data / "larger"), None)
