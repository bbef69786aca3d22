"""The same scene in Blender's path tracer, as the reference for the fast renderer.

It needs the extra `blender`; each release of Blender runs on one version of Python only.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from identica import _checks
from identica._checks import InputError
from identica._install import how_to_install
from identica.rendering.placing import Placing, place
from identica.rendering.scene import Scene
from identica.rendering.teapot import Mesh, teapot_mesh

__all__ = ["BlenderRenderer"]

_SCENE = Scene()
_GROUND_REACH = 300.0


@final
class BlenderRenderer:
    """Renders the scene of 3DIdent with Blender's Cycles: direct light only, plain sRGB.

    There is one Blender in a process: a second renderer takes it from the first.

    Args:
        size: Pixels of a side.
        samples: Rays through a pixel.
        scene: What is the same in all pictures.
        denoised: Whether Blender removes the noise that is left.
        threads: That Blender may use.
    """

    def __init__(
        self, size: int, samples: int = 64, scene: Scene = _SCENE, *, denoised: bool = True, threads: int = 1
    ) -> None:
        self.size, self.scene = _checks.at_least_one("size", size), scene
        self._bpy = _blender()
        self._bpy.ops.wm.read_factory_settings(use_empty=True)
        self._settings(_checks.at_least_one("samples", samples), denoised, _checks.at_least_one("threads", threads))
        self._object_colour = self._add_teapot()
        self._ground_colour = self._add_ground()
        self._add_camera()
        self._spot = self._add_lights()

    def render(self, latents: NDArray[Any]) -> NDArray[np.uint8]:
        """Pictures of scene latents, [pictures, 10], as sRGB bytes, [pictures, size, size, 3]."""
        return self.render_placed(place(self.scene, latents))

    def render_placed(self, placing: Placing) -> NDArray[np.uint8]:
        """Pictures of things that were placed, and coloured, in another way."""
        pictures = [self._render_one(placing, index) for index in range(len(placing.origins))]
        return np.array(pictures, np.uint8).reshape(-1, self.size, self.size, 3)

    def _settings(self, samples: int, denoised: bool, threads: int) -> None:
        scene = self._bpy.context.scene
        scene.render.engine = "CYCLES"
        scene.render.resolution_x = scene.render.resolution_y = self.size
        scene.render.resolution_percentage = 100
        scene.render.threads_mode, scene.render.threads = "FIXED", threads
        scene.render.image_settings.file_format = "PNG"
        scene.render.image_settings.color_mode = "RGB"
        scene.render.dither_intensity = 0.0
        scene.view_settings.view_transform = "Standard"
        scene.cycles.device = "CPU"
        scene.cycles.samples = samples
        scene.cycles.use_adaptive_sampling = False
        scene.cycles.use_denoising = denoised
        for bounces in ("max_bounces", "diffuse_bounces", "glossy_bounces", "transmission_bounces"):
            setattr(scene.cycles, bounces, 0)
        scene.world = self._bpy.data.worlds.new("black")
        scene.world.color = (0.0, 0.0, 0.0)

    def _add(self, name: str, data: Any) -> Any:
        added = self._bpy.data.objects.new(name, data)
        self._bpy.context.scene.collection.objects.link(added)
        return added

    def _add_teapot(self) -> Any:
        mesh = teapot_mesh(self.scene.teapot_scale, self.scene.teapot_centre)
        self._teapot = self._add("teapot", self._mesh("teapot", mesh))
        return self._material(self._teapot)

    def _add_ground(self) -> Any:
        far, height = _GROUND_REACH, self.scene.ground_height
        corners = np.array([[-far, -far, height], [far, -far, height], [far, far, height], [-far, far, height]])
        up = np.repeat([[0.0, 0.0, 1.0]], 4, axis=0)
        flat = Mesh(corners.astype(np.float32), up.astype(np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32))
        return self._material(self._add("ground", self._mesh("ground", flat)))

    def _mesh(self, name: str, mesh: Mesh) -> Any:
        data = self._bpy.data.meshes.new(name)
        data.from_pydata(mesh.vertices.tolist(), [], mesh.triangles.tolist())
        data.shade_smooth()
        data.normals_split_custom_set_from_vertices(mesh.normals.tolist())
        return data

    def _material(self, owner: Any) -> Any:
        """Give an object its rubber; return the input that takes the colour."""
        material = self._bpy.data.materials.new(owner.name)
        material.use_nodes = True
        tree = material.node_tree
        tree.nodes.clear()
        kinds = ("BsdfDiffuse", "BsdfAnisotropic", "LayerWeight", "Math", "Math", "MixShader", "OutputMaterial")
        nodes = [tree.nodes.new(f"ShaderNode{kind}") for kind in kinds]
        diffuse, glossy, facing, power, growth, mix, output = nodes
        glossy.distribution = "GGX"
        glossy.inputs["Roughness"].default_value = self.scene.roughness
        glossy.inputs["Color"].default_value = (*[self.scene.gloss_white] * 3, 1.0)
        facing.inputs["Blend"].default_value = 0.5  # then it is 1 - c
        power.operation, growth.operation = "POWER", "MULTIPLY_ADD"
        power.inputs[1].default_value = self.scene.gloss_rise
        growth.inputs[1].default_value, growth.inputs[2].default_value = 1 - self.scene.gloss, self.scene.gloss
        for source, target in (
            (facing.outputs["Facing"], power.inputs[0]),
            (power.outputs[0], growth.inputs[0]),
            (growth.outputs[0], mix.inputs[0]),
            (diffuse.outputs[0], mix.inputs[1]),
            (glossy.outputs[0], mix.inputs[2]),
            (mix.outputs[0], output.inputs[0]),
        ):
            tree.links.new(source, target)
        owner.data.materials.append(material)
        return diffuse.inputs["Color"]

    def _add_camera(self) -> None:
        data = self._bpy.data.cameras.new("camera")
        data.lens, data.sensor_width = self.scene.lens, self.scene.sensor
        camera = self._add("camera", data)
        camera.matrix_world = _looking(np.array(self.scene.camera), -np.array(self.scene.camera))
        self._bpy.context.scene.camera = camera

    def _add_lights(self) -> Any:
        lights, scene = self._bpy.data.lights, self.scene
        sun = lights.new("sun", "SUN")
        sun.energy, sun.angle = scene.sun_strength, scene.sun_angle
        self._add("sun", sun)
        square = lights.new("square", "AREA")
        square.energy, square.size = scene.area_power, scene.area_side
        self._add("square", square).location = (0.0, 0.0, scene.area_height)
        spot = lights.new("spot", "SPOT")
        spot.energy, spot.shadow_soft_size = scene.spot_power, scene.spot_radius
        spot.spot_size, spot.spot_blend = scene.spot_angle, scene.spot_blend
        spot.use_soft_falloff = False
        return self._add("spot", spot)

    def _render_one(self, placing: Placing, index: int) -> NDArray[np.uint8]:
        origin, spot = placing.origins[index], placing.spots[index]
        self._teapot.matrix_world = _matrix(placing.rotations[index], origin)
        self._spot.matrix_world = _looking(spot, origin - spot)
        ours, light, ground = placing.colours[index]
        self._spot.data.color = tuple(light)
        self._object_colour.default_value = (*ours, 1.0)
        self._ground_colour.default_value = (*ground, 1.0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            self._bpy.context.scene.render.filepath = str(path)
            with _silent():
                self._bpy.ops.render.render(write_still=True)
            from PIL import Image

            with Image.open(path) as picture:
                return np.asarray(picture.convert("RGB"))


def _blender() -> Any:
    try:
        import bpy
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise InputError(
            f"Blender is not installed for Python {version}: {how_to_install('blender')} (Blender 4.2 to 4.5 run "
            "on Python 3.11)"
        ) from error
    return bpy


def _matrix(rotation: NDArray[np.float64], origin: NDArray[np.float64]) -> Any:
    from mathutils import Matrix

    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = rotation, origin
    return Matrix(whole.tolist())


def _looking(place: NDArray[np.float64], direction: NDArray[np.float64]) -> Any:
    """Put a camera or a light, which look along -z with y up, at a place and turn it towards a direction."""
    back = -direction / np.linalg.norm(direction)
    right = np.cross([0.0, 0.0, 1.0] if abs(back[2]) < 1 - 1e-9 else [0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    return _matrix(np.stack([right, np.cross(back, right), back], axis=1), place)


@contextmanager
def _silent() -> Iterator[None]:
    """Keep what Blender prints away from stdout."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(nowhere)
        os.close(kept)
