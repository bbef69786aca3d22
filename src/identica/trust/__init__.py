"""How far a result can be trusted when the truth is not known: consistency between refits, and rival assumptions."""

from identica.trust.agreement import Consistency, consistency, refit
from identica.trust.selection import CANDIDATES, Candidate, Selection, select

__all__ = ["CANDIDATES", "Candidate", "Consistency", "Selection", "consistency", "refit", "select"]
