"""Records of one experiment with several seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable

from identica.experiments.store import Record

__all__ = ["grouped_over_seeds"]


def grouped_over_seeds(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Unsupervised records that differ in their seed alone, by a key that sorts by protocol and settings."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record["kind"] == "unsupervised":
            same = {key: value for key, value in record["settings"].items() if key != "seed"}
            groups.setdefault(json.dumps([record["protocol"], same], sort_keys=True), []).append(record)
    return groups
