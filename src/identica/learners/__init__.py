"""What is trained: modules that own their networks, with a loss, codes and groups of parameters."""

from identica.learners.alignuniform import AlignUniform, AlignUniformLearner
from identica.learners.base import Learner, LearnerSettings, ParameterGroup, Role
from identica.learners.contrastive import Axes, Contrastive, ContrastiveLearner, fitted_law
from identica.learners.supervised import Supervised, SupervisedLearner
from identica.learners.vae import (
    AdaGVAE,
    AdaGVAELearner,
    BetaVAE,
    BetaVAELearner,
    SlowVAE,
    SlowVAELearner,
    VAELearner,
    VAESettings,
)

__all__ = [
    "AdaGVAE",
    "AdaGVAELearner",
    "AlignUniform",
    "AlignUniformLearner",
    "Axes",
    "BetaVAE",
    "BetaVAELearner",
    "Contrastive",
    "ContrastiveLearner",
    "Learner",
    "LearnerSettings",
    "ParameterGroup",
    "Role",
    "SlowVAE",
    "SlowVAELearner",
    "Supervised",
    "SupervisedLearner",
    "VAELearner",
    "VAESettings",
    "fitted_law",
]
