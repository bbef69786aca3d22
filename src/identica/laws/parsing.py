"""Laws as a user writes them."""

from __future__ import annotations

import re
from dataclasses import fields

import numpy as np

from identica import _checks
from identica._checks import InputError
from identica.laws.base import Law
from identica.laws.noise import AdditiveNoise, GeneralizedNormal, Laplace, Normal, Width
from identica.laws.per_factor import PerFactor
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
_ONE_FOR_EACH = ("sigma", "scale")


def parse_law(text: str, dim: int | None = None) -> Law:
    """Read a law as it prints: `uniform`, `vmf(kappa=1)`, `normal(sigma=0.05)`, `gennorm(beta=3, scale=0.05)`.

    A width may differ by factor: `laplace(scale=[0.02, 0.1, 0.3])`, or `laplace(scale=0.02:0.32)` for widths at equal
    ratios from the first to the last. So may the law: `3*laplace(scale=0.05); 2*normal(sigma=0.1)`.

    Args:
        text: What the user wrote.
        dim: Number of factors, which a range of widths needs.
    """
    pieces = [piece.strip() for piece in text.split(";")]
    if len(pieces) == 1 and not re.match(r"\d+\s*\*", pieces[0]):
        return _parse_one(pieces[0], dim)
    parts: list[AdditiveNoise] = []
    for piece in pieces:
        match = re.fullmatch(r"(?:(\d+)\s*\*\s*)?(.*)", piece)
        assert match is not None
        law = _parse_one(match[2], dim)
        if not isinstance(law, AdditiveNoise):
            raise InputError(f"a law for single factors must be laplace, normal or gennorm, got {match[2]!r}")
        parts += [law] * int(match[1] or 1)
    return PerFactor(tuple(parts))


def _parse_one(text: str, dim: int | None) -> Law:
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise InputError(f"cannot read the law {text!r}: write it like 'laplace(scale=0.05)'")
    name, inside = match.groups()
    law = _LAWS[_checks.choice("law", name, _LAWS)]
    allowed = [field.name for field in fields(law)]  # type: ignore[arg-type]
    values: dict[str, Width] = {}
    for item in filter(None, (piece.strip() for piece in re.split(r",(?![^\[]*\])", inside or ""))):
        key, _, number = (part.strip() for part in item.partition("="))
        _checks.choice(f"parameter of {name}", key, allowed)
        values[key] = _numbers(key, number, text, dim)
    missing = [key for key in allowed if key not in values]
    if missing:
        raise InputError(f"the law {text!r} lacks {', '.join(missing)}")
    return law(**values)


def _numbers(key: str, written: str, text: str, dim: int | None) -> Width:
    """A number, a list in brackets, or a range of widths."""
    listed = re.fullmatch(r"\[(.*)\]", written)
    separator = "," if listed else ":"
    try:
        numbers = [float(number) for number in (listed[1] if listed else written).split(separator)]
    except ValueError:
        raise InputError(f"{key} in {text!r} must be a number, got {written!r}") from None
    if not listed and len(numbers) == 1:
        return numbers[0]
    if key not in _ONE_FOR_EACH:
        raise InputError(f"{key} in {text!r} must be one number, got {written!r}")
    if listed:
        return tuple(numbers)
    if len(numbers) != 2 or dim is None:
        raise InputError(f"{key} in {text!r} must be a number, a list [a, b, …] or a range a:b of known size")
    for number in numbers:
        _checks.positive(f"{key} in {text!r}", number)
    return tuple(float(f"{value:.6g}") for value in np.geomspace(numbers[0], numbers[1], dim))
