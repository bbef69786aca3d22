"""The scene as data: camera, lights, ground, teapot and material."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

__all__ = ["Scene"]

Vector = tuple[float, float, float]


@final
@dataclass(frozen=True)
class Scene:
    """What is the same in all pictures. Lengths are in the scene's units, strengths as Blender takes them.

    Args:
        camera: Its place; it looks at the origin, with z up.
        lens: Focal length, in mm.
        sensor: Width of the square sensor, in mm.
        size: Largest dimension of the object, as places of things are given by it: the ground lies at -size, the
            object's origin at z + size / 2, the spotlight at a height of 6 + size.
        teapot_scale: Of Newell's teapot, whose body has a radius of 2.
        teapot_centre: The point of Newell's teapot that is the object's origin.
        spot_power: Of the spotlight, in W.
        spot_angle: Full opening of its cone, in radians.
        spot_blend: Part of the cone over which its edge fades.
        spot_radius: Of its sphere, which makes penumbras.
        spot_distance: Radius of the circle that it moves on.
        spot_height: Of that circle above the object's size.
        sun_strength: Irradiance of the sun, which shines straight down.
        sun_angle: Its diameter as seen from the ground, in radians.
        area_power: Of the square light that shines down, in W.
        area_height: Of that light, above the origin.
        area_side: Of its square.
        gloss: Part of the light that the white, rough gloss reflects, seen from above; the rest is diffuse.
        gloss_rise: Exponent p of its growth to the whole as the cosine c of the angle of view falls: (1 - c)^p.
        gloss_white: What the gloss reflects of the light that it takes from the colour below.
        roughness: Of the gloss.
        saturations: Of the object, the spotlight and the ground.
    """

    camera: Vector = (8.0, 0.0, 8.0)
    lens: float = 35.0
    sensor: float = 50.0
    size: float = 4.44
    teapot_scale: float = 0.95
    teapot_centre: Vector = (0.0, 0.0, 1.43)
    spot_power: float = 3000.0
    spot_angle: float = math.radians(35.0)
    spot_blend: float = 0.1
    spot_radius: float = 0.5
    spot_distance: float = 4.0
    spot_height: float = 6.0
    sun_strength: float = 0.5
    sun_angle: float = 0.2
    area_power: float = 39.27
    area_height: float = 7.0
    area_side: float = 1.0
    gloss: float = 0.013
    gloss_rise: float = 3.8
    gloss_white: float = 0.28
    roughness: float = 0.42
    saturations: Vector = (1.0, 0.8, 0.6)

    @property
    def ground_height(self) -> float:
        """Where the ground lies."""
        return -self.size
