"""Pictures of one simple shape: dSprites, on a grid of factors, and Natural Sprites, which move as objects do."""

from identica.sources.binary_images import BinaryImages
from identica.sources.sprites.drawing import FRAME, SHAPES, draw_sprites, outlines
from identica.sources.sprites.dsprites import (
    DSPRITES_GRID,
    DSprites,
    SpritesData,
    SpritesPairs,
    dsprites_values,
    read_dsprites,
)
from identica.sources.sprites.grid import Grid
from identica.sources.sprites.grid_pairs import GridPairs
from identica.sources.sprites.mots import measure_transitions, mots_transitions
from identica.sources.sprites.natural import NaturalPairs, NaturalSprites, SpritesTransitions, SpritesVersion
from identica.sources.sprites.pair_laws import LaplaceMoves, PairLaw, UniformMoves
from identica.sources.sprites.transitions import Transitions, read_transitions

__all__ = [
    "DSPRITES_GRID",
    "FRAME",
    "SHAPES",
    "BinaryImages",
    "DSprites",
    "Grid",
    "GridPairs",
    "LaplaceMoves",
    "NaturalPairs",
    "NaturalSprites",
    "PairLaw",
    "SpritesData",
    "SpritesPairs",
    "SpritesTransitions",
    "SpritesVersion",
    "Transitions",
    "UniformMoves",
    "draw_sprites",
    "dsprites_values",
    "measure_transitions",
    "mots_transitions",
    "outlines",
    "read_dsprites",
    "read_transitions",
]
