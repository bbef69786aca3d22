"""The paper's statements, checked by numbers."""

from identica.theory.limit import CASES, TOO_NARROW, Case, Limit, measure_limit
from identica.theory.maps import Explained, explain

__all__ = ["CASES", "TOO_NARROW", "Case", "Explained", "Limit", "explain", "measure_limit"]
