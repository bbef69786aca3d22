"""What a component shows: pictures along it, as addresses that hold the picture itself."""

from __future__ import annotations

import base64
import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from identica._traversing import moved_codes
from identica.report._charts import Array

__all__ = ["Picture", "averages", "decoded", "moved_factors", "pair_sheet", "pixels_of", "traversals"]

_COMPONENTS, _PICTURES = 10, 7
_QUANTILES = np.linspace(0.02, 0.98, _PICTURES)
_NEAR, _AROUND = 0.02, 0.05  # part of all samples on either side of a quantile, to choose from and to average
_GAP = 0.06  # between partners, of their width
_LARGEST, _SMALLEST = 128, 16  # pixels of the longer side
_MOST_BYTES, _MOST_OF_AVERAGES, _MOST_OF_PAIRS = 160_000, 90_000, 50_000  # before base64


class Picture(NamedTuple):
    """A picture and the code of it in question."""

    code: float
    address: str


def traversals(images: NDArray[Any], codes: Array) -> list[list[Picture]]:
    """For each component the pictures at evenly spaced quantiles of it, as near to the median of the others as can be.

    Args:
        images: [samples, channels, height, width] or [samples, height, width].
        codes: [samples, components].
    """
    chosen = [_along(codes, component) for component in range(min(_COMPONENTS, codes.shape[1]))]
    rows, uses = np.unique(np.concatenate(chosen), return_counts=True)
    files = dict(zip(rows.tolist(), _fitting(pixels_of(images[rows]), uses), strict=True))
    return [
        [Picture(float(codes[row, component]), files[row]) for row in along.tolist()]
        for component, along in enumerate(chosen)
    ]


def averages(images: NDArray[Any], codes: Array) -> list[list[Picture]]:
    """For each component the average of the pictures around evenly spaced quantiles of it, whatever the others are.

    Each average is made as bright as the brightest picture can be.

    Args:
        images: [samples, channels, height, width] or [samples, height, width].
        codes: [samples, components].
    """
    pixels, shown = pixels_of(images), min(_COMPONENTS, codes.shape[1])
    around = [rows for component in range(shown) for rows in _around(codes[:, component], _AROUND)]
    means = np.stack([_bright(pixels[rows].mean(axis=0)) for rows in around])
    files = iter(_fitting(means, np.ones(len(means), np.int64), most=_MOST_OF_AVERAGES))
    quantiles = np.quantile(codes[:, :shown], _QUANTILES, axis=0)
    return [[Picture(float(code), next(files)) for code in column] for column in quantiles.T]


def decoded(images: NDArray[Any], codes: Array) -> list[list[Picture]]:
    """For each component what a decoder draws along it.

    Args:
        images: [components, steps, channels, height, width], for codes that `moved_codes` gives.
        codes: [samples, components].
    """
    shown, steps = min(_COMPONENTS, len(images)), images.shape[1]
    pixels = pixels_of(images[:shown].reshape(-1, *images.shape[2:]))
    files = iter(_fitting(pixels, np.ones(len(pixels), np.int64), most=_MOST_OF_AVERAGES))
    moved = moved_codes(codes, steps=steps)
    return [[Picture(float(code), next(files)) for code in moved[place, :, place]] for place in range(shown)]


def moved_factors(images: NDArray[np.uint8], values: Array) -> list[list[Picture]]:
    """For each of the first factors the pictures along it, with values of the factor instead of codes.

    Args:
        images: Bytes, [factors, steps, height, width, 3].
        values: [steps].
    """
    shown = images[:_COMPONENTS]
    pixels = shown.reshape(-1, *images.shape[2:])
    files = iter(_fitting(pixels, np.ones(len(pixels), np.int64)))
    return [[Picture(float(value), next(files)) for value in values] for _ in shown]


def pair_sheet(pairs: NDArray[Any]) -> list[str]:
    """Both pictures of each pair side by side, as addresses.

    Args:
        pairs: [pairs, 2, channels, height, width].
    """
    pixels = pixels_of(pairs.reshape(-1, *pairs.shape[2:])).reshape(len(pairs), 2, *_size(pairs), -1)
    gap = np.full((len(pairs), pixels.shape[2], max(1, round(_GAP * pixels.shape[3])), pixels.shape[4]), 128, np.uint8)
    joined = np.concatenate([pixels[:, 0], gap, pixels[:, 1]], axis=2)
    return _fitting(joined, np.ones(len(joined), np.int64), 2 * _LARGEST, _MOST_OF_PAIRS)


def _size(pairs: NDArray[Any]) -> tuple[int, int]:
    return int(pairs.shape[-2]), int(pairs.shape[-1])


def _bright(mean: NDArray[np.float64]) -> NDArray[np.uint8]:
    return (mean * (255 / max(1.0, float(mean.max())))).round().astype(np.uint8)


def _around(values: Array, part: float) -> list[NDArray[np.int64]]:
    """Row numbers of the samples near each quantile of one component."""
    order = np.argsort(values, kind="stable")
    width = max(1, round(part * len(order)))
    centres = (_QUANTILES * (len(order) - 1)).round().astype(int)
    return [order[max(0, centre - width) : centre + width + 1] for centre in centres]


def _along(codes: Array, component: int) -> NDArray[np.int64]:
    """Row numbers of the samples to show."""
    spread = codes.std(axis=0)
    away = (codes - np.median(codes, axis=0)) / np.where(spread > 0, spread, 1.0)
    away[:, component] = 0.0
    distance = np.square(away).sum(axis=1)
    near = _around(codes[:, component], _NEAR)
    return np.array([rows[np.argmin(distance[rows])] for rows in near], dtype=np.int64)


def pixels_of(images: NDArray[Any]) -> NDArray[np.uint8]:
    """[samples, height, width, 1, 3 or 4] of whole numbers up to 255."""
    values = images[:, None] if images.ndim == 3 else images
    values = np.moveaxis(values if values.shape[1] in {1, 3, 4} else values[:, :1], 1, 3)
    if values.dtype == np.uint8:
        return values
    values = values.astype(np.float64)
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    return ((values - low) / (high - low) * 255).round().astype(np.uint8)


def _fitting(
    pixels: NDArray[np.uint8], uses: NDArray[np.int64], largest: int = _LARGEST, most: int = _MOST_BYTES
) -> list[str]:
    """As PNG files in base64, made smaller until all together are small, as often as each is used."""
    size = min(largest, max(pixels.shape[1:3]))
    while True:
        files = [_png(one, size) for one in pixels]
        if int(uses @ [len(file) for file in files]) <= most or size <= _SMALLEST:
            return [f"data:image/png;base64,{base64.b64encode(file).decode()}" for file in files]
        size = max(_SMALLEST, round(0.75 * size))


def _png(pixels: NDArray[np.uint8], size: int) -> bytes:
    from PIL import Image

    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    if max(image.size) > size:
        image.thumbnail((size, size))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
