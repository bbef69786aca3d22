"""The fast renderer against Blender and against six pictures of the original scene.

    python benchmarks/rendering.py [--json] [--scenes 20] [--picture docs/3dident/side-by-side.png]

Differences are mean absolute ones in percent of the range of a channel: red, green, blue. Speeds are pictures by
seconds of processor time, so that neighbours on the machine do not count. Without Blender
(`pip install 'identica[blender]'`) its part is left out; the six pictures are looked for in the folder
`3dident_reference` of IDENTICA_DATA.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import measure
from identica._checks import InputError
from identica._files import replacing
from identica.rendering import BlenderRenderer, Placing, Scene, TeapotRenderer, place, to_scene

Pictures = NDArray[np.uint8]
SCENE = Scene()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--scenes", type=int, default=20, help="random scenes to compare with Blender")
    parser.add_argument("--samples", type=int, default=64, help="of Blender, which then removes the noise")
    parser.add_argument("--threads", type=int, default=1, help="of Blender")
    parser.add_argument("--picture", type=Path, help="write the six references, ours and Blender's side by side")
    arguments = parser.parse_args()
    blender = blender_of(112, arguments.samples, arguments.threads)
    result: dict[str, Any] = {"images_per_cpu_second": {str(size): speed(size) for size in (64, 224)}}
    if blender is not None:
        result |= random_scenes(arguments.scenes, arguments.samples, arguments.threads)
        blender = blender_of(112, arguments.samples, arguments.threads)
    folder = Path(os.environ.get("IDENTICA_DATA", "data")) / "3dident_reference"
    if folder.is_dir():
        result |= references(folder, blender, arguments.picture)
    result["machine"] = measure.machine()
    if not arguments.json:
        for name, value in result.items():
            print(f"{name}: {value}")
    print(json.dumps(result))


def blender_of(size: int, samples: int, threads: int) -> BlenderRenderer | None:
    try:
        return BlenderRenderer(size, samples, threads=threads)
    except InputError:
        return None


def speed(size: int) -> float:
    renderer = TeapotRenderer(size)
    latents = random_latents(800_000 // size**2)
    renderer.render(latents[:1])
    times = []
    for _ in range(5):
        started = time.process_time()
        renderer.render(latents)
        times.append(time.process_time() - started)
    return round(len(latents) / statistics.median(times), 1)


def random_latents(count: int) -> NDArray[np.float64]:
    return to_scene(np.random.default_rng(0).uniform(-1, 1, (count, 10)))


def random_scenes(count: int, samples: int, threads: int) -> dict[str, Any]:
    """Our pictures, with the rays of a set, against Blender's."""
    latents = random_latents(count)
    renderer = BlenderRenderer(64, samples, threads=threads)
    started = time.process_time()
    theirs = renderer.render(latents)
    seconds = time.process_time() - started
    return {
        "blender_images_per_cpu_second": round(count / seconds, 2),
        "random_scenes": count,
        "difference_to_blender": difference(TeapotRenderer(64).render(latents), theirs),
    }


def references(folder: Path, blender: BlenderRenderer | None, picture: Path | None) -> dict[str, Any]:
    files = sorted(folder.glob("*.png"))
    given = np.stack([np.asarray(Image.open(file).convert("RGB")) for file in files])
    placing = unwrapped(np.load(folder / "latents.npy"))
    rows = {"reference": given, "ours": TeapotRenderer(given.shape[1], samples=64).render_placed(placing)}
    if blender is not None:
        rows["blender"] = blender.render_placed(placing)
    if picture is not None:
        with replacing(picture) as unfinished:
            sheet = Image.fromarray(np.vstack([np.hstack(list(row)) for row in rows.values()]))
            sheet.save(unfinished, format="PNG", optimize=True)
    return {f"references_to_{name}": difference(row, given) for name, row in rows.items() if name != "reference"}


def difference(one: Pictures, other: Pictures) -> list[float]:
    mean = np.abs(one.astype(np.float64) - other).mean(axis=(0, 1, 2)) / 2.55
    return [round(float(value), 3) for value in mean]


def unwrapped(latents: NDArray[np.float64]) -> Placing:
    """The references took hues below 0 as they are, which makes other colours than hues modulo 1."""
    hues = latents[:, 7:] / (2 * math.pi)
    colours = [[colour(hue, part) for hue, part in zip(row, SCENE.saturations, strict=True)] for row in hues]
    return replace(place(SCENE, latents), colours=np.maximum(np.array(colours), 0.0))


def colour(hue: float, saturation: float) -> tuple[float, float, float]:
    """RGB at full value by the usual formula, whose sixth of the circle is cut off towards 0."""
    sixth = int(6 * hue)
    rest = 6 * hue - sixth
    low, falling, rising = 1 - saturation, 1 - saturation * rest, 1 - saturation * (1 - rest)
    around = [
        (1.0, rising, low),
        (falling, 1.0, low),
        (low, 1.0, rising),
        (low, falling, 1.0),
        (rising, low, 1.0),
        (1.0, low, falling),
    ]
    return around[sixth % 6]


if __name__ == "__main__":
    main()
