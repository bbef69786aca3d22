"""How well codes identify factors: pure functions (factors, codes) -> Score, and a table of their names."""

from identica.metrics.scores import Score, correlations, linear_r2, mcc
from identica.metrics.table import DEFAULT_SCORES, SCORES, NamedScore, compute_scores, symbol

__all__ = [
    "DEFAULT_SCORES",
    "SCORES",
    "NamedScore",
    "Score",
    "compute_scores",
    "correlations",
    "linear_r2",
    "mcc",
    "symbol",
]
