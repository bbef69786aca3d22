"""Experiments as data, and the store of what they gave."""

from identica.experiments.definition import Reference, Row
from identica.experiments.engines import LocalEngine, Outcome
from identica.experiments.paper import ROWS, find_rows, rows_of_table
from identica.experiments.runner import Run, execute
from identica.experiments.store import RunStore

__all__ = [
    "ROWS",
    "LocalEngine",
    "Outcome",
    "Reference",
    "Row",
    "Run",
    "RunStore",
    "execute",
    "find_rows",
    "rows_of_table",
]
