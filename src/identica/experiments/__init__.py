"""Experiments as data, and the store of what they gave."""

from identica.experiments.choice import ENGINES, make_engine
from identica.experiments.definition import Changes, Published, Reference, Row, plan
from identica.experiments.engines import LocalEngine, Outcome
from identica.experiments.figure2 import PANELS, Panel, Point, plan_figure2
from identica.experiments.figure3 import (
    Recovered,
    Traversal,
    nearest_images,
    recover,
    rendered_images,
    traverse,
    traverse_run,
)
from identica.experiments.paper import ROWS, find_rows, rows_of_record, rows_of_table
from identica.experiments.ray_engine import RayEngine
from identica.experiments.restore import Restored, restore, restore_learner
from identica.experiments.runner import Run, execute, trained_learner
from identica.experiments.store import RunStore

__all__ = [
    "ENGINES",
    "PANELS",
    "ROWS",
    "Changes",
    "LocalEngine",
    "Outcome",
    "Panel",
    "Point",
    "Published",
    "RayEngine",
    "Recovered",
    "Reference",
    "Restored",
    "Row",
    "Run",
    "RunStore",
    "Traversal",
    "execute",
    "find_rows",
    "make_engine",
    "nearest_images",
    "plan",
    "plan_figure2",
    "recover",
    "rendered_images",
    "restore",
    "restore_learner",
    "rows_of_record",
    "rows_of_table",
    "trained_learner",
    "traverse",
    "traverse_run",
]
