"""How well codes identify factors: pure functions (factors, codes) -> Score, and a table of their names."""

from identica.metrics.importances import DCI, dci
from identica.metrics.interventions import (
    DrawGroups,
    beta_vae,
    beta_vae_of_draws,
    factor_vae,
    factor_vae_of_draws,
    fixing,
)
from identica.metrics.mutual import mig, modularity, mutual_information
from identica.metrics.prediction import LEAST_SAMPLES, explicitness, sap
from identica.metrics.scores import Score, correlations, linear_r2, mcc
from identica.metrics.table import (
    DEFAULT_SCORES,
    SCORES,
    NamedScore,
    Scorer,
    compute_scores,
    quick_scores,
    symbol,
)

__all__ = [
    "DCI",
    "DEFAULT_SCORES",
    "LEAST_SAMPLES",
    "SCORES",
    "DrawGroups",
    "NamedScore",
    "Score",
    "Scorer",
    "beta_vae",
    "beta_vae_of_draws",
    "compute_scores",
    "correlations",
    "dci",
    "explicitness",
    "factor_vae",
    "factor_vae_of_draws",
    "fixing",
    "linear_r2",
    "mcc",
    "mig",
    "modularity",
    "mutual_information",
    "quick_scores",
    "sap",
    "symbol",
]
