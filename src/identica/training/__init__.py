"""The loop that trains a learner: schedules, optimisers, checkpoints and devices. It knows no metric."""

from identica._checks import DivergenceError, LostRankError
from identica.training._watch import Report
from identica.training.checkpoint import Curve
from identica.training.devices import resolve_device
from identica.training.loop import Trained, train
from identica.training.muon import Muon, orthogonalise
from identica.training.optimization import check_groups, make_optimizers
from identica.training.schedule import Schedule
from identica.training.trackers import TRACKERS, check_trackers, make_trackers

__all__ = [
    "TRACKERS",
    "Curve",
    "DivergenceError",
    "LostRankError",
    "Muon",
    "Report",
    "Schedule",
    "Trained",
    "check_groups",
    "check_trackers",
    "make_optimizers",
    "make_trackers",
    "orthogonalise",
    "resolve_device",
    "train",
]
