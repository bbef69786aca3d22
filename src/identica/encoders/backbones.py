"""The network a user names, for observations of a given shape."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Generator, nn

from identica import _checks
from identica._checks import InputError
from identica.encoders._layers import Initialisation
from identica.encoders._stages import fold_for
from identica.encoders.convnet import ConvNet
from identica.encoders.glimpse import GlimpseResNet
from identica.encoders.light import LightResNet
from identica.encoders.mlp import MLP
from identica.encoders.resnet import ResNet18

__all__ = ["BACKBONES", "IMAGE_BACKBONES", "make_backbone"]

_NEEDS = {
    "linear": "observations of shape [features]",
    "mlp": "observations of shape [features]",
    "conv": "images of shape [channels, height, width]",
    "light": "images of shape [channels, height, width]",
    "glimpse": "images of shape [channels, height, width]",
    "resnet": "images of shape [channels, height, width]",
}
BACKBONES = tuple(_NEEDS)
"""Names of the networks that `make_backbone` knows."""

IMAGE_BACKBONES = ("conv", "light", "glimpse", "resnet")
"""Those of them that take images."""

_HINTS = {1: "use 'mlp' or 'linear'", 3: "use 'conv', 'light', 'glimpse' or 'resnet'"}


def make_backbone(
    kind: str,
    shape: Sequence[int],
    outputs: int,
    *,
    generator: Generator,
    widths: Sequence[int] = (64, 64),
    slope: float = 0.2,
    initialisation: Initialisation = "kaiming",
    fold: int = 1,
) -> nn.Module:
    """The network from observations of `shape` to unconstrained codes: one of `BACKBONES`.

    Args:
        kind: `mlp`, or `linear` (an `MLP` without hidden layers), for vectors; `conv` (`ConvNet`), `light`
            (`LightResNet`), `glimpse` (`GlimpseResNet`) or `resnet` (`ResNet18`) for images.
        shape: Shape of one observation: [features] or [channels, height, width].
        outputs: Number of codes.
        generator: Source of the initial weights.
        widths: Hidden widths of `mlp`.
        slope: Slope below zero of the leaky ReLUs of `mlp`.
        initialisation: Of the weights of `mlp`.
        fold: Pixels a side that are channels for `conv`, if images are large enough.
    """
    _checks.choice("encoder", kind, BACKBONES)
    if len(shape) != (3 if kind in IMAGE_BACKBONES else 1):
        allowed = _HINTS.get(len(shape), "allowed are [features] and [channels, height, width]")
        raise InputError(f"encoder {kind!r} needs {_NEEDS[kind]}, got observations of shape {list(shape)}: {allowed}")
    try:
        _checks.at_least_one("outputs", outputs)
        return _make(kind, shape, outputs, generator, widths, slope, initialisation, fold)
    except InputError as error:
        raise InputError(f"encoder {kind!r} for observations of shape {list(shape)}: {error}") from error


def _make(
    kind: str,
    shape: Sequence[int],
    outputs: int,
    generator: Generator,
    widths: Sequence[int],
    slope: float,
    initialisation: Initialisation,
    fold: int,
) -> nn.Module:
    if kind not in IMAGE_BACKBONES:
        widths = () if kind == "linear" else widths
        for name, value in (("features", shape[0]), *(("a width", width) for width in widths)):
            _checks.at_least_one(name, value)
        return MLP(shape[0], outputs, widths, generator=generator, slope=slope, initialisation=initialisation)
    channels, height, width = shape
    if kind == "conv":
        fold = fold_for(height, width, _checks.at_least_one("fold", fold))
        return ConvNet(channels, height, width, outputs, generator=generator, fold=fold)
    if kind in ("light", "glimpse"):
        network = LightResNet if kind == "light" else GlimpseResNet
        return network(channels, height, width, outputs, generator=generator)
    for name, value in (("height", height), ("width", width)):
        _checks.at_least_one(name, value)
    return ResNet18(channels, outputs, generator=generator)
