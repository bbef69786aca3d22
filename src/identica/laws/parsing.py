"""Laws as a user writes them."""

from __future__ import annotations

import re
from dataclasses import fields

from identica import _checks
from identica._checks import InputError
from identica.laws.base import Law
from identica.laws.noise import GeneralizedNormal, Laplace, Normal
from identica.laws.uniform import Uniform
from identica.laws.vmf import VonMisesFisher

__all__ = ["parse_law"]

_LAWS: dict[str, type[Law]] = {
    "uniform": Uniform,
    "vmf": VonMisesFisher,
    "normal": Normal,
    "laplace": Laplace,
    "gennorm": GeneralizedNormal,
}


def parse_law(text: str) -> Law:
    """Read a law as it prints: `uniform`, `vmf(kappa=1)`, `normal(sigma=0.05)`, `gennorm(beta=3, scale=0.05)`."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise InputError(f"cannot read the law {text!r}: write it like 'laplace(scale=0.05)'")
    name, inside = match.groups()
    law = _LAWS[_checks.choice("law", name, _LAWS)]
    allowed = [field.name for field in fields(law)]  # type: ignore[arg-type]
    values: dict[str, float] = {}
    for item in filter(None, (piece.strip() for piece in (inside or "").split(","))):
        key, _, number = item.partition("=")
        _checks.choice(f"parameter of {name}", key.strip(), allowed)
        try:
            values[key.strip()] = float(number)
        except ValueError:
            raise InputError(f"{key.strip()} in {text!r} must be a number, got {number!r}") from None
    missing = [key for key in allowed if key not in values]
    if missing:
        raise InputError(f"the law {text!r} lacks {', '.join(missing)}")
    return law(**values)
