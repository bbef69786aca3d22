"""Where positive pairs come from, each described by plain data that builds it from a seed."""

from identica.sources.arrays import ArrayPairs
from identica.sources.base import (
    Factor,
    FactorKind,
    FixableSource,
    LabelledSource,
    NumberedSource,
    Part,
    Source,
    SourceSettings,
    SplitSource,
)
from identica.sources.kitti_masks import KittiMasks, MaskPairs
from identica.sources.mixings import Layers, Mixing, parse_mixing
from identica.sources.pairings import IndexPairing, LabelPairing, LagPairing, Pairing, lagged_pairs, runs_of
from identica.sources.sprites import DSprites, GridPairs, NaturalPairs, NaturalSprites
from identica.sources.synthetic import Synthetic, SyntheticPairs
from identica.sources.threedident import RenderedScenes, RenderedTeapots, ScenePairs, ThreeDIdent
from identica.sources.windows import stack_windows

__all__ = [
    "ArrayPairs",
    "DSprites",
    "Factor",
    "FactorKind",
    "FixableSource",
    "GridPairs",
    "IndexPairing",
    "KittiMasks",
    "LabelPairing",
    "LabelledSource",
    "LagPairing",
    "Layers",
    "MaskPairs",
    "Mixing",
    "NaturalPairs",
    "NaturalSprites",
    "NumberedSource",
    "Pairing",
    "Part",
    "RenderedScenes",
    "RenderedTeapots",
    "ScenePairs",
    "Source",
    "SourceSettings",
    "SplitSource",
    "Synthetic",
    "SyntheticPairs",
    "ThreeDIdent",
    "lagged_pairs",
    "parse_mixing",
    "runs_of",
    "stack_windows",
]
