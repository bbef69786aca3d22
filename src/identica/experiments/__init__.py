"""Experiments as data, and the store of what they gave."""

from identica.experiments.choice import ENGINES, make_engine
from identica.experiments.definition import Published, Reference, Row, plan
from identica.experiments.engines import LocalEngine, Outcome
from identica.experiments.figure2 import PANELS, Panel, Point, plan_figure2
from identica.experiments.paper import ROWS, find_rows, rows_of_record, rows_of_table
from identica.experiments.ray_engine import RayEngine
from identica.experiments.restore import Restored, restore
from identica.experiments.runner import Run, execute
from identica.experiments.store import RunStore

__all__ = [
    "ENGINES",
    "PANELS",
    "ROWS",
    "LocalEngine",
    "Outcome",
    "Panel",
    "Point",
    "Published",
    "RayEngine",
    "Reference",
    "Restored",
    "Row",
    "Run",
    "RunStore",
    "execute",
    "find_rows",
    "make_engine",
    "plan",
    "plan_figure2",
    "restore",
    "rows_of_record",
    "rows_of_table",
]
