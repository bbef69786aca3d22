"""Dataclasses as plain data and back: what records hold, and what names a run.

A dataclass becomes `{"type": its name, field: value, …}`. Fields at their default are left out, so that a field that is
added later, with a default that changes nothing, leaves the names of older runs as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from identica._checks import InputError

__all__ = ["digest", "from_plain", "to_plain"]

_TYPE = "type"


def to_plain(value: Any) -> Any:
    """What JSON can hold: numbers, strings, lists and objects."""
    if is_dataclass(value) and not isinstance(value, type):
        chosen = {one.name: getattr(value, one.name) for one in fields(value) if not _is_default(one, value)}
        return {_TYPE: type(value).__name__, **{name: to_plain(content) for name, content in chosen.items()}}
    if isinstance(value, Mapping):
        return {str(name): to_plain(content) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 1 and 1.0 are one setting
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"settings must be plain data or dataclasses of it, got {type(value).__name__}")


def from_plain(data: Any, types: Mapping[str, type]) -> Any:
    """What `to_plain` was given, rebuilt from the dataclasses in `types` and from no others."""
    if isinstance(data, Mapping) and _TYPE in data:
        name = data[_TYPE]
        if name not in types:
            raise InputError(f"settings of type {name!r} are not known here: allowed: {', '.join(sorted(types))}")
        try:
            return types[name](**{key: from_plain(value, types) for key, value in data.items() if key != _TYPE})
        except TypeError as error:
            raise InputError(f"settings of type {name!r} are not of this version: {error}") from None
    if isinstance(data, Mapping):
        return {key: from_plain(value, types) for key, value in data.items()}
    return tuple(from_plain(one, types) for one in data) if isinstance(data, list) else data


def digest(data: Any) -> str:
    """A short hash of plain data, the same on every machine."""
    return hashlib.sha256(json.dumps(to_plain(data), sort_keys=True).encode()).hexdigest()[:10]


def _is_default(one: Field[Any], owner: Any) -> bool:
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return default is not MISSING and bool(getattr(owner, one.name) == default)
