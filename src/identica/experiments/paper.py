"""Tables 1 and 2 of the ICML 2021 paper and Table 1 of its 2020 workshop predecessor, as data; and all rows by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from identica import _checks
from identica._checks import InputError
from identica._plain import from_plain, to_plain
from identica.experiments.definition import Published, Reference, Row
from identica.experiments.kitti import TABLE_3, TABLE_3_WIDTHS, WORKSHOP_TABLE_5
from identica.experiments.restore import known_types
from identica.experiments.store import Record
from identica.experiments.threedident import TABLE_4, TABLE_5
from identica.experiments.workshop import (
    WORKSHOP_TABLE_2,
    WORKSHOP_TABLE_2_INFONCE,
    WORKSHOP_TABLE_3,
    WORKSHOP_TABLE_4,
)
from identica.laws import GeneralizedNormal, Laplace, Law, Normal, Uniform, VonMisesFisher
from identica.learners import Contrastive
from identica.models import Model
from identica.sources import SourceSettings, Synthetic
from identica.spaces import Box, Real, Space, Sphere

__all__ = ["ROWS", "TABLES", "find_rows", "rows_of_record", "rows_of_table"]

_SPHERE, _BOX, _REAL = Sphere(10), Box(10), Real(10)
_LAPLACE, _NORMAL, _GENNORM = Laplace(0.05), Normal(0.05), GeneralizedNormal(3, 0.05)

_VMF_ON_SPHERE = Model(_SPHERE, "vmf")
_UNBOUNDED_LAPLACE = Model(_REAL, "laplace")
_UNBOUNDED_NORMAL = Model(_REAL, "normal")
_UNBOUNDED_GENNORM = Model(_REAL, "gennorm(beta=3)")
_BOX_LAPLACE = Model(_BOX, "laplace")
_BOX_NORMAL = Model(_BOX, "normal")
_BOX_GENNORM = Model(_BOX, "gennorm(beta=3)")


def _row(
    name: str,
    space: Space,
    conditional: Law,
    model: Model,
    *published: tuple[float, float],
    marginal: Law | None = None,
    matches: bool = False,
) -> Row:
    """A row with its published identity, supervised and unsupervised scores."""
    scores = ("mcc", "r2") if name.startswith("t2") else ("r2", "mcc")
    identity, supervised, unsupervised = (Reference(*score) for score in published)
    return Row(
        name,
        Synthetic(space, conditional, Uniform() if marginal is None else marginal),
        Contrastive(model),
        scores,
        (
            Published(scores[0], "identity", identity),
            Published(scores[0], "supervised", supervised),
            Published(scores[0], "unsupervised", unsupervised),
        ),
        matches_theory=matches,
    )


# Identity and supervised scores that the printed tables share between rows.
_T1_SPHERE = (66.98, 2.79), (99.71, 0.05)
_T1_BOX = (67.93, 7.40), (99.78, 0.06)
_T1_SPHERE_NORMAL = (63.37, 2.41), (99.70, 0.07)
_T2_BOX = (46.55, 1.34), (99.93, 0.03)
_T2_UNBOUNDED = (46.55, 1.34), (99.97, 0.03)

TABLE_1 = (
    _row("t1-01", _SPHERE, VonMisesFisher(1), _VMF_ON_SPHERE, *_T1_SPHERE, (99.42, 0.05), matches=True),
    _row("t1-02", _SPHERE, VonMisesFisher(10), _VMF_ON_SPHERE, *_T1_SPHERE, (99.86, 0.01)),
    _row("t1-03", _SPHERE, _LAPLACE, _VMF_ON_SPHERE, *_T1_SPHERE, (99.91, 0.01)),
    _row("t1-04", _SPHERE, _NORMAL, _VMF_ON_SPHERE, *_T1_SPHERE, (99.86, 0.00)),
    _row("t1-05", _BOX, _NORMAL, _UNBOUNDED_NORMAL, *_T1_BOX, (99.60, 0.02)),
    _row("t1-06", _BOX, _LAPLACE, _UNBOUNDED_NORMAL, *_T1_BOX, (99.64, 0.02)),
    _row("t1-07", _BOX, _LAPLACE, _UNBOUNDED_GENNORM, *_T1_BOX, (99.70, 0.02)),
    _row("t1-08", _BOX, _NORMAL, _UNBOUNDED_GENNORM, *_T1_BOX, (99.69, 0.02)),
    _row("t1-09", _SPHERE, _LAPLACE, _VMF_ON_SPHERE, *_T1_SPHERE_NORMAL, (99.02, 0.01), marginal=Normal(1)),
    _row("t1-10", _SPHERE, _NORMAL, _VMF_ON_SPHERE, *_T1_SPHERE_NORMAL, (99.02, 0.02), marginal=Normal(1)),
    _row(
        "t1-11", _REAL, Normal(1), _UNBOUNDED_NORMAL, (62.49, 1.65), (99.65, 0.04), (98.13, 0.14), marginal=Laplace(1)
    ),
    _row("t1-12", _REAL, Normal(1), _UNBOUNDED_NORMAL, (63.57, 2.30), (99.61, 0.17), (98.76, 0.03), marginal=Normal(1)),
)

TABLE_2 = (
    _row("t2-01", _BOX, _LAPLACE, _BOX_LAPLACE, *_T2_BOX, (98.62, 0.05), matches=True),
    _row("t2-02", _BOX, _GENNORM, _BOX_GENNORM, *_T2_BOX, (99.90, 0.06), matches=True),
    _row("t2-03", _BOX, _NORMAL, _BOX_NORMAL, *_T2_BOX, (99.77, 0.01)),
    _row("t2-04", _BOX, _LAPLACE, _BOX_NORMAL, *_T2_BOX, (99.76, 0.02)),
    _row("t2-05", _BOX, _GENNORM, _BOX_LAPLACE, *_T2_BOX, (98.80, 0.02)),
    _row("t2-06", _BOX, _LAPLACE, _UNBOUNDED_LAPLACE, *_T2_UNBOUNDED, (98.57, 0.02)),
    _row("t2-07", _BOX, _GENNORM, _UNBOUNDED_GENNORM, *_T2_UNBOUNDED, (99.85, 0.01)),
    _row("t2-08", _BOX, _NORMAL, _UNBOUNDED_NORMAL, *_T2_UNBOUNDED, (58.26, 3.00)),
    _row("t2-09", _BOX, _LAPLACE, _UNBOUNDED_NORMAL, *_T2_UNBOUNDED, (59.67, 2.33)),
    _row("t2-10", _BOX, _NORMAL, _UNBOUNDED_GENNORM, *_T2_UNBOUNDED, (43.80, 2.15)),
)

# The workshop writes gennorm(β=2; λ) for the law that the later paper calls normal(σ=λ), and gennorm(β=1) for Laplace.
_W_SPHERE, _W_BOX = (77.58, 3.06), (87.71, 4.64)
WORKSHOP_TABLE_1 = (
    _row("w1-01", _SPHERE, VonMisesFisher(1), _VMF_ON_SPHERE, _W_SPHERE, (99.82, 0.03), (99.42, 0.05), matches=True),
    _row("w1-02", _BOX, _NORMAL, _UNBOUNDED_NORMAL, _W_BOX, (99.80, 0.03), (99.52, 0.02)),
    _row("w1-03", _SPHERE, VonMisesFisher(10), _VMF_ON_SPHERE, _W_SPHERE, (99.81, 0.03), (99.86, 0.01)),
    _row("w1-04", _SPHERE, _LAPLACE, _VMF_ON_SPHERE, (77.98, 2.97), (99.81, 0.03), (99.88, 0.03)),
    _row("w1-05", _SPHERE, _NORMAL, _VMF_ON_SPHERE, _W_SPHERE, (99.80, 0.04), (99.86, 0.00)),
    _row("w1-06", _BOX, _LAPLACE, _UNBOUNDED_NORMAL, _W_BOX, (99.81, 0.03), (99.53, 0.02)),
    _row("w1-07", _BOX, _LAPLACE, _UNBOUNDED_GENNORM, _W_BOX, (99.81, 0.03), (99.70, 0.02)),
    _row("w1-08", _BOX, _NORMAL, _UNBOUNDED_GENNORM, _W_BOX, (99.83, 0.03), (99.69, 0.02)),
    _row("w1-09", _SPHERE, _LAPLACE, _VMF_ON_SPHERE, (78.34, 3.83), (99.78, 0.04), (98.94, 0.03), marginal=Normal(1)),
    _row("w1-10", _SPHERE, _NORMAL, _VMF_ON_SPHERE, (78.05, 3.17), (99.78, 0.05), (98.94, 0.02), marginal=Normal(1)),
    _row(
        "w1-11", _REAL, Normal(1), _UNBOUNDED_NORMAL, (73.28, 2.35), (99.76, 0.02), (97.57, 0.37), marginal=Laplace(1)
    ),
    _row("w1-12", _REAL, Normal(1), _UNBOUNDED_NORMAL, (75.43, 2.68), (99.80, 0.04), (98.70, 0.04), marginal=Normal(1)),
)

TABLES = {
    "1": TABLE_1,
    "2": TABLE_2,
    "3": TABLE_3,
    "3-widths": TABLE_3_WIDTHS,
    "4": TABLE_4,
    "5": TABLE_5,
    "workshop1": WORKSHOP_TABLE_1,
    "workshop2": WORKSHOP_TABLE_2,
    "workshop2-infonce": WORKSHOP_TABLE_2_INFONCE,
    "workshop3": WORKSHOP_TABLE_3,
    "workshop4": WORKSHOP_TABLE_4,
    "workshop5": WORKSHOP_TABLE_5,
}
"""Rows of each table, in its order; `3-widths` and `workshop2-infonce` are our own."""
ROWS = {row.id: row for table in TABLES.values() for row in table}
"""All rows, by their names."""


def rows_of_record(record: Record, rows: Mapping[str, Row] = ROWS) -> list[Row]:
    """The rows that a record belongs to: those with its source and learner, whatever the recipe.

    A source of which a part was there belongs to the row of the whole.
    """
    settings = record["settings"]
    wanted = _published(settings["source"]), settings["learner"]
    return [row for row in rows.values() if (to_plain(row.source.published()), to_plain(row.learner)) == wanted]


def _published(source: Any) -> Any:
    """The same source, as plain data, with all of its data."""
    types = known_types()
    if source.get("type") not in types:  # a source of a user's own
        return source
    found = from_plain(source, types)
    return to_plain(found.published()) if isinstance(found, SourceSettings) else source


def rows_of_table(table: str) -> tuple[Row, ...]:
    """The rows of a table: `1` to `5`, `workshop1` to `workshop5`, or our own `3-widths` or `workshop2-infonce`."""
    return TABLES[_checks.choice("table", table, TABLES)]


def find_rows(ids: Iterable[str]) -> list[Row]:
    """The rows with these ids."""
    return [_find(name) for name in ids]


def _find(name: str) -> Row:
    if name in ROWS:
        return ROWS[name]
    hint = _checks.suggestion(name, ROWS)
    raise InputError(f"unknown row {name!r}: {hint}`identica rows` lists all {len(ROWS)}")
