"""How much the data bear: steps, capacity, front and start of an encoder, chosen by bits on pairs that are held out."""

from identica.fitting.bench import Attempt, Bench
from identica.fitting.choice import Choice, Options
from identica.fitting.held_out import HeldOut, blocks_of, held_out_bits, learnt_by_heart, standard_error, tells_nothing
from identica.fitting.search import SEED_OF_TRIALS, search
from identica.fitting.wide import fit_from_wide_codes

__all__ = [
    "SEED_OF_TRIALS",
    "Attempt",
    "Bench",
    "Choice",
    "HeldOut",
    "Options",
    "blocks_of",
    "fit_from_wide_codes",
    "held_out_bits",
    "learnt_by_heart",
    "search",
    "standard_error",
    "tells_nothing",
]
