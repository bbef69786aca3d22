"""Networks f from observations to codes: a whitening, a backbone, and a head onto a space."""

from identica.encoders._layers import Initialisation
from identica.encoders.backbones import BACKBONES, IMAGE_BACKBONES, make_backbone
from identica.encoders.convnet import ConvNet
from identica.encoders.deconvnet import DeconvNet
from identica.encoders.encoder import Encoder
from identica.encoders.encoding import encode, rows_at_once
from identica.encoders.glimpse import Glimpse, GlimpseResNet
from identica.encoders.heads import (
    BoxHead,
    Head,
    NormalisedHead,
    ProductHead,
    RealHead,
    Scale,
    SphereHead,
    make_head,
)
from identica.encoders.light import LightResNet
from identica.encoders.mlp import MLP
from identica.encoders.noise import InputNoise
from identica.encoders.resnet import ResidualBlock, ResNet18, memory_format_of
from identica.encoders.scalings import (
    SCALINGS,
    RobustScaling,
    Scaling,
    SignedLog,
    SignedRoot,
    make_scaling,
    scaling_like,
)
from identica.encoders.settings import EncoderSettings, Front, make_encoder
from identica.encoders.units import SMALLEST_WIDTH, Stretch, Turn, Units, unit_variance
from identica.encoders.whitening import Standardisation, Whitening

__all__ = [
    "BACKBONES",
    "IMAGE_BACKBONES",
    "MLP",
    "SCALINGS",
    "SMALLEST_WIDTH",
    "BoxHead",
    "ConvNet",
    "DeconvNet",
    "Encoder",
    "EncoderSettings",
    "Front",
    "Glimpse",
    "GlimpseResNet",
    "Head",
    "Initialisation",
    "InputNoise",
    "LightResNet",
    "NormalisedHead",
    "ProductHead",
    "RealHead",
    "ResNet18",
    "ResidualBlock",
    "RobustScaling",
    "Scale",
    "Scaling",
    "SignedLog",
    "SignedRoot",
    "SphereHead",
    "Standardisation",
    "Stretch",
    "Turn",
    "Units",
    "Whitening",
    "encode",
    "make_backbone",
    "make_encoder",
    "make_head",
    "make_scaling",
    "memory_format_of",
    "rows_at_once",
    "scaling_like",
    "unit_variance",
]
