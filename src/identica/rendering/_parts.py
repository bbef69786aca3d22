"""What the compiled passes work on, as tuples of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Body", "Camera", "Ground", "Lights", "Room"]


class Camera(NamedTuple):
    """Samples of the camera, `samples` for each pixel in turn.

    Attributes:
        place: Of the camera, [3].
        directions: Of length 1, [n, 3].
        points: For each sample a direction to the sun, a point of the square light, and one of the unit disc, [n, 8].
        samples: Of a pixel.
    """

    place: Any
    directions: Any
    points: Any
    samples: Any


class Lights(NamedTuple):
    """Lamps and material.

    Attributes:
        sun: Irradiance.
        square: Intensity of the square light straight below it.
        spot: Intensity of the spotlight.
        radius: Of the spotlight.
        edge: Cosine of the angle to the axis at which its cone ends.
        width: By how much the cosine grows from there until all light passes.
        disc: Points of the unit disc over which the cone is averaged, [k, 2].
        gloss: Part of the light that the gloss takes from the colour below, seen from above.
        rise: Exponent by which that part grows to all of the light, seen from the side.
        white: What the gloss reflects of that.
        alpha: Square of the roughness.
    """

    sun: Any
    square: Any
    spot: Any
    radius: Any
    edge: Any
    width: Any
    disc: Any
    gloss: Any
    rise: Any
    white: Any
    alpha: Any


class Body(NamedTuple):
    """What differs between pictures.

    Attributes:
        origin: Of the object, [3].
        turn: From its frame to the world's, [3, 3].
        centre: Of a sphere around the object, in the world, [3].
        radius: Of that sphere.
        box: Two corners of a box around the object, in its own frame, [2, 3].
        spot: Place of the spotlight, [3].
        axes: Where it looks, and two directions across, [3, 3].
    """

    origin: Any
    turn: Any
    centre: Any
    radius: Any
    box: Any
    spot: Any
    axes: Any


class Ground(NamedTuple):
    """What is the same on the ground in all pictures.

    Attributes:
        height: Of the ground.
        table: For each sample its x and y, and what colour and gloss reflect of the sun and of the square light,
            [n, 6].
        pixels: For each pixel its mean x and y, how far its samples lie from there, and its sums of what colour and
            gloss reflect of both, [pixels, 5].
    """

    height: Any
    table: Any
    pixels: Any


class Room(NamedTuple):
    """Where the passes write.

    Attributes:
        sums: Light of each pixel, as `CHANNELS` says, [pixels, 6].
        rays: Starts and directions of rays for Embree, in the object's frame, [2, 3 n, 3].
        weights: What colour and gloss reflect of the light that a shadow ray decides about, [3 n, 2].
        targets: The sum that it belongs to, [3 n].
        which: Samples of the rays from the camera, [n].
        seen: Whether a sample sees the object, [n].
    """

    sums: Any
    rays: Any
    weights: Any
    targets: Any
    which: Any
    seen: Any
