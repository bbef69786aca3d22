from __future__ import annotations

import colorsys
import math
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from identica._checks import InputError
from identica.rendering import LATENTS, Scene, TeapotRenderer, newell_patches, place, teapot_mesh, to_scene, to_unit

REFERENCES = Path(os.environ.get("IDENTICA_DATA", "data")) / "3dident_reference"
UNIT = np.random.default_rng(0).uniform(-1, 1, (6, 10))


@pytest.fixture(scope="module")
def renderer() -> TeapotRenderer:
    return TeapotRenderer(24)


def scene_with(**changes: float) -> np.ndarray:
    latents = np.zeros((1, 10))
    for name, value in changes.items():
        latents[0, LATENTS.index(name.replace("_", " "))] = value
    return latents


def test_latents_have_two_scales() -> None:
    edge = to_scene(np.ones((1, 10)))
    assert np.allclose(edge, [[3] * 3 + [math.pi / 2] * 7])
    assert np.allclose(to_unit(to_scene(UNIT)), UNIT)


@pytest.mark.parametrize(
    ("latents", "message"),
    [
        (np.zeros((2, 9)), r"latents must have shape \[count, 10\], got \[2, 9\]"),
        (np.full((1, 10), np.nan), "latents must be finite, got 10 NaN"),
    ],
)
def test_bad_latents_are_told(renderer: TeapotRenderer, latents: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        renderer.render(latents)


def test_newells_teapot_is_whole() -> None:
    patches = newell_patches()
    assert patches.shape == (32, 4, 4, 3)
    assert np.allclose(patches.reshape(-1, 3).max(axis=0), [3.525, 2, 3.15])
    mesh = teapot_mesh()
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)
    corners = mesh.vertices[mesh.triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    wide = np.linalg.norm(across, axis=1) > 1e-4
    agreement = np.einsum("tc,tc->t", across, mesh.normals[mesh.triangles].mean(axis=1))[wide]
    assert (agreement > 0).all()  # flat and smooth normals are on one side


def test_rotations_are_about_x_then_y_then_z() -> None:
    turn = place(Scene(), scene_with(rotation_1=math.pi / 2, rotation_3=math.pi / 2)).rotations[0]
    assert np.allclose(turn @ [0, 0, 1], [1, 0, 0])  # z to -y about x, and on to x about z


def test_hues_are_taken_modulo_one() -> None:
    colours = place(Scene(), scene_with(object_hue=-math.pi / 3)).colours[0]
    assert np.allclose(colours[0], colorsys.hsv_to_rgb(5 / 6, 1, 1))
    assert np.allclose(colours[1], [1, 0.2, 0.2])
    assert np.allclose(colours[2], [1, 0.4, 0.4])


def test_a_picture_depends_on_its_latents_alone(renderer: TeapotRenderer) -> None:
    together = renderer.render(to_scene(UNIT))
    assert together.shape == (6, 24, 24, 3)
    assert together.dtype == np.uint8
    one_by_one = [TeapotRenderer(24).render(to_scene(UNIT[k : k + 1])) for k in range(6)]
    assert np.array_equal(together, np.concatenate(one_by_one))


@pytest.mark.parametrize("latent", LATENTS)
def test_every_latent_changes_the_picture(renderer: TeapotRenderer, latent: str) -> None:
    before, after = (renderer.render(0.3 + scene_with(**{latent.replace(" ", "_"): by})) for by in (0.0, 0.5))
    assert (np.abs(before.astype(int) - after) > 5).mean() > 0.01


def test_the_object_moves_where_the_camera_sees_it() -> None:
    """From (8, 0, 8), y is to the right, and z is up."""
    renderer = TeapotRenderer(32)

    def middle(**at: float) -> np.ndarray:
        pictures = renderer.render(scene_with(object_hue=math.pi / 2, **at))[0].astype(float)
        yellow = pictures[..., 1] - pictures[..., 2] > 60  # the ground is red
        assert yellow.any()
        return np.argwhere(yellow).mean(axis=0)

    assert middle(y=2)[1] > middle(y=-2)[1] + 5
    assert middle(z=2)[0] < middle(z=-2)[0] - 3


def test_shadows_are_dark_and_the_spotlight_bright() -> None:
    picture = TeapotRenderer(32, samples=16).render(scene_with(z=1.0, x=-1.0))[0].astype(float)
    ground = picture[16:, :, 0]  # below the object
    assert ground.max() > 1.3 * np.median(ground)
    assert ground.min() < 0.5 * np.median(ground)


@pytest.mark.skipif(not REFERENCES.is_dir(), reason="needs the six references")
def test_pictures_are_those_of_the_original_scene() -> None:
    from rendering import difference, unwrapped

    files = sorted(REFERENCES.glob("*.png"))
    given = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
    ours = TeapotRenderer(112).render_placed(unwrapped(np.load(REFERENCES / "latents.npy")))
    assert max(difference(ours, given)) < 1.0


def test_blender_shows_the_same() -> None:
    pytest.importorskip("bpy")
    from identica.rendering import BlenderRenderer
    from rendering import difference

    latents = to_scene(UNIT[:2])
    assert max(difference(TeapotRenderer(32, 16).render(latents), BlenderRenderer(32, 32).render(latents))) < 2.0
