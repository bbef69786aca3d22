from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ortho_group
from small import small_run

from identica._checks import InputError
from identica.experiments import RunStore, execute
from identica.objectives import DotProduct, PowerDistance
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
    assert {name for name, value in vars(found).items() if value > 0.999} == explaining


def test_a_rotation_keeps_dot_products_and_round_distances() -> None:
    centred = Z - Z.mean(axis=0)
    assert explain(centred, centred @ ROTATION, DotProduct()).isometry > 0.9999
    assert explain(Z, Z @ ROTATION, PowerDistance(2.0)).isometry > 0.9999
    assert explain(Z, Z @ ROTATION, PowerDistance(1.0)).isometry < 0.999


def test_stored_runs_are_explained(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    execute(small_run(), RunStore(tmp_path / "store"), device="cpu")
    code, out, err = command_line("theory", "maps", "store")
    assert code == 0, err
    assert "orthogonal" in out.splitlines()[0]
    assert len(out.splitlines()) == 3
    code, _, err = command_line("theory", "maps", "nowhere")
    assert code == 2
    assert "nowhere" in err


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="one shape"):
        explain(Z, Z[:, :2], DotProduct())
