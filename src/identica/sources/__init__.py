"""Where positive pairs come from, each described by plain data that builds it from a seed."""

from identica.sources.arrays import ArrayPairs, lagged_pairs
from identica.sources.base import Factor, FactorKind, LabelledSource, Source, SourceSettings
from identica.sources.mixings import Layers, Mixing, parse_mixing
from identica.sources.synthetic import Synthetic, SyntheticPairs

__all__ = [
    "ArrayPairs",
    "Factor",
    "FactorKind",
    "LabelledSource",
    "Layers",
    "Mixing",
    "Source",
    "SourceSettings",
    "Synthetic",
    "SyntheticPairs",
    "lagged_pairs",
    "parse_mixing",
]
