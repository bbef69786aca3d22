from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from identica._checks import InputError
from identica._plain import digest, from_plain, to_plain
from identica.experiments import ROWS
from identica.experiments.restore import known_types
from identica.laws import Laplace
from identica.sources import Layers, Synthetic
from identica.spaces import Box


@dataclass(frozen=True)
class Inner:
    size: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    others: tuple[Inner, ...] = ()
    numbers: dict[str, float] = field(default_factory=dict)
    note: str | None = None


TYPES: dict[str, type] = {"Inner": Inner, "Outer": Outer}
VALUES = [
    Inner(0.5),
    Inner(2.0, ("a", "b")),
    Outer(Inner(0.5)),
    Outer(Inner(1.0, ("a",)), (Inner(2.0), Inner(3.5, ("b",))), {"x": 0.25}, "said"),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_plain_data_are_json_and_come_back(value: Any) -> None:
    plain = to_plain(value)
    assert from_plain(json.loads(json.dumps(plain)), TYPES) == value
    assert to_plain(from_plain(plain, TYPES)) == plain


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.id)
def test_every_row_of_the_paper_comes_back(row: Any) -> None:
    for value in (row.source, row.learner, row.learner.recipe("fast"), row.learner.recipe("paper")):
        assert from_plain(json.loads(json.dumps(to_plain(value))), known_types()) == value


def test_fields_at_their_default_are_left_out() -> None:
    assert to_plain(Outer(Inner(0.5))) == {"type": "Outer", "inner": {"type": "Inner", "size": 0.5}}
    plain = to_plain(Synthetic(Box(3), Laplace(0.1)))
    assert plain == {
        "type": "Synthetic",
        "space": {"type": "Box", "dim": 3},
        "conditional": {"type": "Laplace", "scale": 0.1},
    }
    changed = to_plain(Synthetic(Box(3), Laplace(0.1), mixing=Layers(layers=5)))
    assert changed == plain | {"mixing": {"type": "Layers", "layers": 5}}


def test_a_whole_number_is_one_setting_however_it_is_written() -> None:
    assert digest(Inner(2)) == digest(Inner(2.0))
    assert json.dumps(to_plain(Inner(2.0))) == json.dumps(to_plain(Inner(2)))


def test_a_digest_names_what_differs_and_nothing_else() -> None:
    first = Outer(Inner(0.5), numbers={"x": 1.0, "y": 2.0})
    assert digest(first) == digest(Outer(Inner(0.5), numbers={"y": 2.0, "x": 1.0})) == digest(to_plain(first))
    assert len(digest(first)) == 10
    others = [replace(first, note="said"), replace(first, inner=Inner(0.25)), replace(first, numbers={})]
    assert len({digest(value) for value in [first, *others]}) == 4
    assert digest([1, 2]) == "3a316d6d32"  # the same on every machine


def test_types_that_are_not_known_are_refused() -> None:
    with pytest.raises(InputError, match="settings of type 'Inner' are not known here: allowed: Outer"):
        from_plain(to_plain(Outer(Inner(0.5))), {"Outer": Outer})
    with pytest.raises(InputError, match="settings of type 'Path' are not known here"):
        from_plain({"type": "Path"}, known_types())
    with pytest.raises(InputError, match=r"settings of type 'Inner' are not of this version: .*'colour'"):
        from_plain({"type": "Inner", "size": 1, "colour": "red"}, TYPES)
    with pytest.raises(InputError, match=r"settings of type 'Inner' are not of this version: .*'size'"):
        from_plain({"type": "Inner"}, TYPES)


def test_what_is_not_plain_is_refused() -> None:
    with pytest.raises(InputError, match="settings must be plain data or dataclasses of it, got set"):
        to_plain({"a": {1, 2}})
