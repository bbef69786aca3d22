from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from small import SOURCE, small_run
from torch import Tensor

from identica._checks import InputError
from identica.experiments import Row, RunStore, execute
from identica.learners import Contrastive
from identica.models import Model
from identica.spaces import Box, Sphere
from identica.theory import measure_volume

SHEAR = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 3.0, 1.0]])


@pytest.fixture
def in_box(generator: torch.Generator) -> Tensor:
    return Box(3).uniform(1000, generator)


@pytest.fixture
def on_sphere(generator: torch.Generator) -> Tensor:
    return Sphere(3).uniform(1000, generator)


def test_linear_maps_have_one_ratio(in_box: Tensor) -> None:
    for matrix in (SHEAR, -5 * SHEAR, torch.eye(3).flip(0)):
        volume = measure_volume(lambda z, matrix=matrix: z @ matrix, in_box, Box(3))  # type: ignore[misc]
        assert torch.allclose(volume.ratios, torch.ones(1000, dtype=torch.float64), atol=1e-4)
        assert volume.turned == 0


def test_squares_stretch_by_their_slopes(in_box: Tensor) -> None:
    volume = measure_volume(torch.square, in_box, Box(3))
    expected = (2 * in_box).prod(dim=1).double()
    assert torch.allclose(volume.ratios, expected / expected.median(), rtol=1e-4)


def test_a_fold_turns_a_part_over(in_box: Tensor) -> None:
    folded = measure_volume(lambda z: (z - 0.25).abs(), in_box, Box(3))
    mirrored = (in_box < 0.25).sum(dim=1) % 2 == 1
    assert folded.turned == pytest.approx(float(mirrored.double().mean()))


def test_a_sphere_is_measured_along_itself(on_sphere: Tensor) -> None:
    rotation = torch.linalg.qr(SHEAR)[0]
    kept = measure_volume(lambda z: 7 * z @ rotation, on_sphere, Sphere(3))
    assert torch.allclose(kept.ratios, torch.ones(1000, dtype=torch.float64), atol=1e-4)
    # A linear map A, projected back, has the area ratio |det A| / ‖zA‖³.
    bent = measure_volume(lambda z: torch.nn.functional.normalize(z @ SHEAR), on_sphere, Sphere(3))
    assert torch.allclose(bent.ratios, (on_sphere @ SHEAR).norm(dim=1).double() ** -3, rtol=1e-3)
    assert bent.ratios.mean() == pytest.approx(1, abs=0.2)  # a bijection: areas sum up to the sphere


def test_a_collapse_has_no_volume(on_sphere: Tensor) -> None:
    pole = torch.tensor([0.0, 0.0, 1.0])
    near = measure_volume(lambda z: torch.nn.functional.normalize(pole + 1e-3 * z), on_sphere, Sphere(3)).summary()
    assert near["at 99 %"] < 1e-4
    assert near["turned over"] == pytest.approx(50, abs=5)
    for points, space in ((on_sphere, Sphere(3)), (on_sphere.abs(), Box(3))):
        gone = measure_volume(lambda z: pole + 0 * z, points, space).summary()
        assert (gone["at 99 %"], gone["turned over"]) == (0, 100)


def test_what_cannot_be_measured_is_named(in_box: Tensor, on_sphere: Tensor) -> None:
    with pytest.raises(InputError, match="h must give 3 codes, got 2"):
        measure_volume(lambda z: z[:, :2], in_box, Box(3))
    with pytest.raises(InputError, match="its codes have different norms"):
        measure_volume(lambda z: z + 5, on_sphere, Sphere(3))
    with pytest.raises(InputError, match="must not map onto a sphere"):
        measure_volume(torch.nn.functional.normalize, in_box, Box(3))
    with pytest.raises(InputError, match="latents must lie in"):
        measure_volume(lambda z: z, 2 * on_sphere, Sphere(3))
    with pytest.raises(InputError, match="at least one row"):
        measure_volume(lambda z: z, in_box[:0], Box(3))


def test_maps_between_a_sphere_and_another_space_are_left_out(
    command_line: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    row = Row("own", SOURCE, Contrastive(Model(Sphere(3), "vmf")))
    execute(small_run(row=row), RunStore(tmp_path / "store"), device="cpu")
    code, _, err = command_line("theory", "volumes", "store")
    assert code == 2
    assert "left out" in err
    assert "DIR must hold runs from a sphere to a sphere" in err


def test_stored_runs_are_measured(command_line: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    execute(small_run(), RunStore(tmp_path / "store"), device="cpu")
    code, out, err = command_line("theory", "volumes", "store", "--picture", "volumes.png")
    assert code == 0, err
    assert "turned over" in out.splitlines()[0]
    assert (tmp_path / "volumes.png").read_bytes().startswith(b"\x89PNG")
    assert command_line("export", "store", "copy")[0] == 0
    code, _, err = command_line("theory", "volumes", "copy")
    assert code == 2
    assert "learner.safetensors is missing" in err
