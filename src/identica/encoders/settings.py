"""An encoder as plain data, and how it is made for a sample of observations."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, final

import torch
from torch import Generator, Tensor, nn

from identica._checks import InputError
from identica.encoders._layers import Initialisation
from identica.encoders._small_resnet import SmallResNet
from identica.encoders.backbones import make_backbone
from identica.encoders.encoder import Encoder
from identica.encoders.heads import make_head
from identica.encoders.scalings import Scaling, make_scaling
from identica.encoders.units import Stretch
from identica.encoders.whitening import Standardisation, Whitening
from identica.spaces import Space

__all__ = ["EncoderSettings", "Front", "make_encoder"]

Front = Literal["no", "centred", "uncentred"]
"""Whether the covariance of the observations is made even first, with or without subtracting their mean."""

# More features than this are only standardised: their covariance would take longer than the training.
_MOST_WHITENED = 2048
# Of the sample, for the first filters of `light`.
_IMAGES_MEASURED = 512
# Root mean square of the whitened mean beyond which it is subtracted; factors on [0, 1] have 1.7.
_FARTHEST_MEAN = 3.0


@final
@dataclass(frozen=True)
class EncoderSettings:
    """What an encoder is made of.

    Args:
        widths: Hidden widths of the network.
        slope: Slope of its leaky ReLUs below zero.
        initialisation: Of its weights.
        whiten: What comes in front of the network.
        scale_start: First value of the head's radius or bound.
        logarithmic_scale: Learn the logarithm of that scale.
        normalise_codes: Keep the scale of codes in the head, by their moments instead of by bounds.
        network: `linear`, `mlp`, `conv`, `light`, `glimpse` or `resnet`; `auto` takes `mlp` for vectors, `conv` for
            images.
        free_widths: Learn a width for each code, beside the scale of all of them.
        directions: How many directions of vectors to keep, those of most variance; all of them if not given.
        scaling: What each value of vectors passes first.
        noise: Deviation of the noise on whitened observations in training.
        fold: Pixels a side that are channels for `conv`, if images are large enough.
        bfloat16: Whether the network computes with 16 bits in training.
        slow_start: Deviation of codes whose last layer begins at slow features of the layers before; 0 for none.
    """

    widths: tuple[int, ...]
    slope: float
    initialisation: Initialisation
    whiten: Front
    scale_start: float
    logarithmic_scale: bool
    normalise_codes: bool
    network: str = "auto"
    free_widths: bool = False
    directions: int | None = None
    scaling: Scaling = "none"
    noise: float = 0.0
    fold: int = 1
    bfloat16: bool = False
    slow_start: float = 0.0


def make_encoder(
    settings: EncoderSettings,
    space: Space,
    sample: Tensor,
    generator: Generator,
    network: nn.Module | None = None,
) -> Encoder:
    """An encoder from observations like `sample` to codes in `space`.

    Args:
        settings: What it is made of.
        space: Of the codes.
        sample: Observations to measure mean and covariance of.
        generator: Source of the initial weights.
        network: A network of the caller's own, which is copied, in the place of the one that the settings name.
    """
    if network is None:
        backbone = make_backbone(
            _network_for(settings.network, sample),
            sample.shape[1:],
            space.dim,
            widths=settings.widths,
            slope=settings.slope,
            initialisation=settings.initialisation,
            generator=generator,
            fold=settings.fold,
        )
    else:
        backbone = copy.deepcopy(network)
    head = make_head(
        space, settings.scale_start, logarithmic=settings.logarithmic_scale, normalised=settings.normalise_codes
    )
    stretch = Stretch(space.dim) if settings.free_widths else None
    scaling = make_scaling(settings.scaling, sample)
    with torch.no_grad():
        scaled = sample if settings.scaling == "none" else scaling(sample)
    front = _front(settings, scaled, space.dim)
    if isinstance(backbone, SmallResNet) and network is None:
        with torch.no_grad():
            some = scaled[:_IMAGES_MEASURED]
            backbone.begin_at_patches(some if front is None else front(some))
    encoder = Encoder(backbone, head, front, stretch, scaling, settings.noise, settings.bfloat16)
    if network is not None:
        _check_own(encoder, sample[:2], space.dim)
    return encoder


def _network_for(name: str, sample: Tensor) -> str:
    if name != "auto":
        return name
    return "mlp" if sample.ndim == 2 else "conv"


def _front(settings: EncoderSettings, sample: Tensor, dim: int) -> Whitening | Standardisation | None:
    if settings.whiten == "no":
        return None
    few = sample.ndim == 2 and len(sample) > sample.shape[1] and sample.shape[1] <= _MOST_WHITENED
    if not few and settings.directions is None:
        return Standardisation.fit(sample)
    whitening = Whitening.fit(sample, centre=settings.whiten == "centred", dim=dim, keep=settings.directions)
    # The mean may stay where it is near. Observations far from the origin would all look alike.
    offset = whitening(sample.mean(dim=0)).square().mean().sqrt()
    return whitening if offset <= _FARTHEST_MEAN else Whitening.fit(sample, dim=dim, keep=settings.directions)


def _check_own(encoder: Encoder, observations: Tensor, dim: int) -> None:
    """Refuse a network of the user's own that does not fit the observations or the number of codes."""
    raw = nn.Sequential(encoder.scaling, encoder.whitening, encoder.backbone)
    was_training = raw.training
    try:
        with torch.no_grad():
            outputs = raw.eval()(observations)
    except RuntimeError as error:
        shape = list(observations.shape[1:])
        raise InputError(f"encoder cannot take observations of shape {shape}: {str(error).splitlines()[0]}") from None
    raw.train(was_training)
    if tuple(outputs.shape) != (len(observations), dim):
        raise InputError(f"encoder must give n_components = {dim} outputs, got shape {list(outputs.shape[1:])}")
