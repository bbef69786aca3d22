"""How far to trust a result when the truth is not known: do refits agree, and which assumption fits the pairs best?"""

from identica.validation.assumptions import CANDIDATES, select
from identica.validation.differences import Differences, partner_differences
from identica.validation.numbers import NumberTried, check_numbers, supported_number
from identica.validation.refits import Consistency, consistency, refit
from identica.validation.selection import Candidate, Selection

__all__ = [
    "CANDIDATES",
    "Candidate",
    "Consistency",
    "Differences",
    "NumberTried",
    "Selection",
    "check_numbers",
    "consistency",
    "partner_differences",
    "refit",
    "select",
    "supported_number",
]
