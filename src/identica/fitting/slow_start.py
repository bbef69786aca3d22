"""Where a linear map begins if nothing else is known: at what changes least from partner to partner."""

from __future__ import annotations

import torch
from torch import nn

from identica.axes import slow_directions
from identica.encoders import Encoder
from identica.sources import ArrayPairs

__all__ = ["begin_slowly"]

_MOST_PAIRS = 16_384
# Eigenvectors of more features than this would take longer than the training.
_MOST_FEATURES = 2048


def begin_slowly(encoder: Encoder, source: ArrayPairs) -> None:
    """Set the weights of a linear encoder to slow features of what its front gives.

    From random weights refits end in different optima, of equal bits and different axes.

    Args:
        encoder: A front and one linear layer; the layer is changed in place.
        source: Pairs to find slow features of.
    """
    layer = next(module for module in encoder.backbone.modules() if isinstance(module, nn.Linear))
    if not layer.out_features <= layer.in_features <= _MOST_FEATURES:
        return
    rows = torch.linspace(0, len(source) - 1, min(len(source), _MOST_PAIRS)).long()
    with torch.no_grad():
        device = layer.weight.device
        first, second = (encoder.front(half.to(device)).cpu() for half in source.at(rows))
        layer.weight.copy_(slow_directions(first, second, layer.out_features).T)
        if layer.bias is not None:
            layer.bias.zero_()
