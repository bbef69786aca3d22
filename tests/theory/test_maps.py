from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ortho_group
from small import ROW, SOURCE, small_run

from identica._checks import InputError
from identica.experiments import RunStore, execute
from identica.laws import GeneralizedNormal, Laplace, Law, Normal, VonMisesFisher
from identica.similarities import DotProduct, PowerDistance, Similarity
from identica.theory import explain

Z = np.random.default_rng(0).uniform(size=(2000, 3))
ROTATION = ortho_group.rvs(3, random_state=1)
SHEAR = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 3.0, 1.0]])


@pytest.mark.parametrize(
    ("codes", "explaining"),
    [
        (3 * Z + 1, {"orthogonal", "affine", "permutation", "isometry"}),
        (-2 * Z[:, [1, 2, 0]], {"orthogonal", "affine", "permutation", "isometry"}),
        (Z[:, [1, 2, 0]] * [1, 5, 0.2], {"affine", "permutation"}),
        (Z @ ROTATION, {"orthogonal", "affine"}),
        (Z @ SHEAR, {"affine"}),
        (np.sin(9 * Z @ SHEAR), set()),
    ],
)
def test_the_right_maps_explain(codes: np.ndarray, explaining: set[str]) -> None:
    found = explain(Z, codes, PowerDistance(1.0))
    values = {name: value for name, value in vars(found).items() if name != "slope"}
    assert {name for name, value in values.items() if value > 0.999} == explaining


def test_a_rotation_keeps_dot_products_and_round_distances() -> None:
    centred = Z - Z.mean(axis=0)
    assert explain(centred, centred @ ROTATION, DotProduct()).isometry > 0.9999
    assert explain(Z, Z @ ROTATION, PowerDistance(2.0)).isometry > 0.9999
    assert explain(Z, Z @ ROTATION, PowerDistance(1.0)).isometry < 0.999


@pytest.mark.parametrize(
    ("similarity", "conditional", "stretch", "matched"),
    [
        (DotProduct(), VonMisesFisher(10.0), 10**0.5, 10),
        (PowerDistance(1.0), Laplace(0.05), 20.0, 20),
        (PowerDistance(2.0), Normal(0.05), 200**0.5, 200),
        (PowerDistance(3.0), GeneralizedNormal(3.0, 0.05), 20.0, 8000),
    ],
)
def test_the_matched_slope_is_that_of_codes_at_the_scale_of_the_noise(
    similarity: Similarity, conditional: Law, stretch: float, matched: float
) -> None:
    assert similarity.matched_slope(conditional) == pytest.approx(matched)
    assert explain(Z, stretch * Z, similarity).slope == pytest.approx(matched)


def test_stored_runs_are_explained(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    execute(small_run(), RunStore(tmp_path / "store"), device="cpu")
    code, out, err = command_line("theory", "maps", "store", "--picture", "maps.pdf")
    assert code == 0, err
    assert "orthogonal" in out.splitlines()[0]
    assert len(out.splitlines()) == 3
    assert (tmp_path / "maps.pdf").read_bytes().startswith(b"%PDF")
    code, _, err = command_line("theory", "maps", "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_runs_of_one_row_and_seed_keep_apart(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    for scale in (0.1, 0.2):
        row = replace(ROW, source=replace(SOURCE, conditional=Laplace(scale)))
        execute(small_run(row=row), RunStore(tmp_path / "store"), device="cpu")
    code, out, err = command_line("theory", "maps", "store", "--picture", "maps.svg", "--json")
    assert code == 0, err
    assert len({line["process"] for line in json.loads(out)["runs"]}) == 2
    picture = (tmp_path / "maps.svg").read_text(encoding="utf-8")
    assert all(name in picture for name in RunStore(tmp_path / "store").names())


def test_copies_without_codes_are_named(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    execute(small_run(), RunStore(tmp_path / "store"), device="cpu")
    assert command_line("export", "store", "copy")[0] == 0
    code, _, err = command_line("theory", "maps", "copy")
    assert code == 2
    assert "codes.npz is missing" in err


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="codes must vary"):
        explain(Z, 0 * Z, DotProduct())
    with pytest.raises(InputError, match="seed must be"):
        explain(Z, Z, DotProduct(), seed=-1)
    with pytest.raises(InputError, match="one shape"):
        explain(Z, Z[:, :2], DotProduct())
