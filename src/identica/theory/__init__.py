"""The paper's statements, checked by numbers."""

from identica.theory.limit import CASES, TOO_NARROW, Case, Limit, measure_limit
from identica.theory.maps import Explained, explain, similarities
from identica.theory.mismatch import mass_to_move
from identica.theory.uniformity import TrainedHalves, train_with_parts_of_loss
from identica.theory.volume import Volume, measure_volume

__all__ = [
    "CASES",
    "TOO_NARROW",
    "Case",
    "Explained",
    "Limit",
    "TrainedHalves",
    "Volume",
    "explain",
    "mass_to_move",
    "measure_limit",
    "measure_volume",
    "similarities",
    "train_with_parts_of_loss",
]
