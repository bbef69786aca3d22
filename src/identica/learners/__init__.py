"""What is trained: modules that own their networks, with a loss, codes and groups of parameters."""

from identica.learners.base import Learner, LearnerSettings, ParameterGroup, Role
from identica.learners.contrastive import Axes, Contrastive, ContrastiveLearner, fitted_law
from identica.learners.supervised import Supervised, SupervisedLearner

__all__ = [
    "Axes",
    "Contrastive",
    "ContrastiveLearner",
    "Learner",
    "LearnerSettings",
    "ParameterGroup",
    "Role",
    "Supervised",
    "SupervisedLearner",
    "fitted_law",
]
