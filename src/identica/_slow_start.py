"""Where the last layer of a network begins if nothing else is known: at what changes least from partner to partner."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor, nn

from identica.axes import slow_directions
from identica.encoders import Encoder
from identica.sources import ArrayPairs, Source

__all__ = ["begin_linear_map_slowly", "begin_slowly"]

_MOST_PAIRS = 16_384
# Of images of 64×64 pixels; fewer of larger ones, which take their time to pass the network.
_IMAGE_PAIRS, _FEWEST_IMAGE_PAIRS, _PAIRS_AT_ONCE = 4096, 1024, 256
# Eigenvectors of more features than this would take longer than the training.
_MOST_FEATURES = 2048
# Deviation of the noise that keeps features of little variance from looking slow, as a part of the mean deviation.
_NOISE = 0.03


def begin_linear_map_slowly(encoder: Encoder, source: ArrayPairs) -> None:
    """Set the weights of a linear encoder to slow features of what its front gives.

    From random weights refits end in different optima, of equal bits and different axes.

    Args:
        encoder: A front and one linear layer; the layer is changed in place.
        source: Pairs to find slow features of.
    """
    layer = _last_layer(encoder)
    if not _has_enough(layer):
        return
    rows = torch.linspace(0, len(source) - 1, min(len(source), _MOST_PAIRS)).long()
    with torch.no_grad():
        device = layer.weight.device
        first, second = (encoder.front(half.to(device)).cpu() for half in source.at(rows))
        layer.weight.copy_(slow_directions(first, second, layer.out_features).T)
        if layer.bias is not None:
            layer.bias.zero_()


def begin_slowly(encoder: Encoder, source: Source, deviation: float, generator: Generator) -> None:
    """Set the last layer of a network to slow features of what the layers before it give, before they are trained.

    Random features of images hold places and sizes already. With these in the codes from the start, negatives that
    differ in nothing else teach the rest.

    Args:
        encoder: Its last layer is changed in place.
        source: Pairs to find slow features of.
        deviation: Of each code, before it passes the head.
        generator: Draws the pairs.
    """
    layer = _last_layer(encoder)
    if not _has_enough(layer):
        return
    with torch.no_grad():
        first, second = (
            torch.cat(halves) for halves in zip(*_features(encoder, layer, source, generator), strict=True)
        )
        spread = float(first.var(dim=0).mean())
        directions = slow_directions(first, second, layer.out_features, noise=_NOISE * spread**0.5) * deviation
        layer.weight.copy_(directions.T)
        if layer.bias is not None:
            layer.bias.copy_(-first.double().mean(dim=0) @ directions)


def _features(
    encoder: Encoder, layer: nn.Linear, source: Source, generator: Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """What reaches the layer, of some pairs at a time."""
    seen: list[Tensor] = []
    hook = layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].cpu()))
    try:
        count = _IMAGE_PAIRS * 64 * 64 // math.prod(source.shape[-2:])
        for _ in range(min(max(count, _FEWEST_IMAGE_PAIRS), _IMAGE_PAIRS) // _PAIRS_AT_ONCE):
            pairs = torch.cat(source.pairs(_PAIRS_AT_ONCE, generator)).to(layer.weight.device)
            encoder.backbone(encoder.front(pairs))
            first, second = seen.pop().chunk(2)
            yield first, second
    finally:
        hook.remove()


def _last_layer(encoder: Encoder) -> nn.Linear:
    return [module for module in encoder.backbone.modules() if isinstance(module, nn.Linear)][-1]


def _has_enough(layer: nn.Linear) -> bool:
    """Whether there are as many features as codes, and not too many."""
    return layer.out_features <= layer.in_features <= _MOST_FEATURES
