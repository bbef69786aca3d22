"""Pictures of a teapot over a ground under a spotlight, from ten latents, as in 3DIdent."""

from identica.rendering.blender import BlenderRenderer
from identica.rendering.latents import LATENTS, check_latents, to_scene, to_unit
from identica.rendering.placing import Placing, place
from identica.rendering.renderer import TeapotRenderer
from identica.rendering.scene import Scene
from identica.rendering.sets import LAYOUTS, UNIT_BOX, Layout, RenderedSet
from identica.rendering.teapot import Mesh, newell_patches, teapot_mesh
from identica.rendering.writing import write_set

__all__ = [
    "LATENTS",
    "LAYOUTS",
    "UNIT_BOX",
    "BlenderRenderer",
    "Layout",
    "Mesh",
    "Placing",
    "RenderedSet",
    "Scene",
    "TeapotRenderer",
    "check_latents",
    "newell_patches",
    "place",
    "teapot_mesh",
    "to_scene",
    "to_unit",
    "write_set",
]
