"""Tables: .csv, .tsv and .parquet."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from identica._checks import InputError
from identica.datafiles import _content
from identica.datafiles._roles import Roles, find_roles
from identica.datafiles._sources import library, member, reading
from identica.datafiles.dataset import Dataset

__all__ = ["TABLES", "read_columns", "read_labels", "read_table"]

TABLES = (".csv", ".tsv", ".parquet")

_PARTNER = "_pos"
_OTHER_DELIMITERS = (";", "\t", "|", ",")


def read_table(
    path: Path,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    time: str | None,
    trial: str | None,
    labels: Sequence[str],
) -> Dataset:
    """Features by their columns; those that end in _pos hold the partners. Clocks and names of trials are no features.

    Args:
        path: The table.
        columns: Names of the features; all that are nothing else if not given.
        exclude: Names that are no features.
        time: The name of the time, which must rise in each trial.
        trial: The name of the trials; found by itself if `columns` are not given.
        labels: Names of measured behaviour.
    """
    frame = _load(path)
    names = dict.fromkeys(frame.columns)
    taken = dict.fromkeys(labels, "a label") | dict.fromkeys(exclude, "excluded")
    taken |= {name: what for name, what in ((trial, "the trial"), (time, "the time")) if name is not None}
    for name in (*taken, *(columns or ())):
        member("column", name, path, names)
    for name in set(columns or ()) & set(taken):
        what = taken[name]
        raise InputError(f"column {name!r} of {str(path)!r} is {what}, so it cannot be one of the columns too")
    given = None if trial is None else _labels(path, frame, trial)
    roles = Roles() if columns is not None else _found(frame, [name for name in names if name not in taken], given)
    trial = roles.trial or trial
    trials = None if trial is None else _labels(path, frame, trial)
    if time is not None:
        _check_time(path, frame, time, trials)
    features, partners = _features(path, names, columns, {*taken, *roles.all})
    values = _finite_numbers(path, frame, features + partners)
    x, x_pos = values[:, : len(features)], values[:, len(features) :]
    return Dataset(
        np.ascontiguousarray(x),
        positives=np.ascontiguousarray(x_pos) if partners else None,
        trials=None if partners and roles.trial else trials,
        names=tuple(features),
        labels=_content.joined(repr(str(path)), {name: _labels(path, frame, name) for name in labels}),
        trial=trial,
        notes=_notes(roles),
        time=None if (time or roles.time) is None else _seconds(frame[time or roles.time]),
    )


def _finite_numbers(path: Path, frame: Any, names: Sequence[str]) -> NDArray[Any]:
    values = _numbers(path, frame, names)
    _content.check_finite(repr(str(path)), values, names)
    return values


def _found(frame: Any, names: Sequence[str], trial: NDArray[Any] | None) -> Roles:
    """Clocks and trials among columns without gaps that have no partners."""
    partnered = {name for name in names if name + _PARTNER in names or name.endswith(_PARTNER)}
    columns = {}
    for name in names:
        if name not in partnered and not frame[name].isna().any():
            values = frame[name].to_numpy()
            columns[name] = values if values.dtype.kind in "biufM" else _as_time(frame[name])
    return find_roles(columns, trial)


def _as_time(column: Any) -> NDArray[Any]:
    """Dates and times that are written as text; any other text as it is."""
    pandas = library("pandas", "reading times")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # formats that are guessed row by row
        times = pandas.to_datetime(column, errors="coerce")
    return np.asarray(column.astype(str).to_numpy(), dtype=str) if times.isna().any() else times.to_numpy()


def _notes(roles: Roles) -> tuple[str, ...]:
    what = [f"{role} is {name!r}" for role, name in (("the time", roles.time), ("the trial", roles.trial)) if name]
    what += [f"{name!r} is left out" for name in roles.others]
    return (f"{', '.join(what)}: by name and values no feature; --columns chooses otherwise",) if what else ()


def _seconds(column: Any) -> NDArray[np.float64]:
    """A clock as numbers; dates as seconds from the first."""
    values = column.to_numpy()
    values = values if values.dtype.kind in "iufM" else _as_time(column)
    if values.dtype.kind == "M":
        values = (values - values[0]) / np.timedelta64(1, "s")
    return np.asarray(values, dtype=np.float64)


def _check_time(path: Path, frame: Any, time: str, trials: NDArray[Any] | None) -> None:
    values = frame[time].to_numpy()
    values = values if values.dtype.kind in "iufM" else _as_time(frame[time])
    falls = ~np.asarray(values[1:] > values[:-1])
    if trials is not None:
        falls &= np.asarray(trials[1:] == trials[:-1])
    if values.dtype.kind not in "iufM" or falls.any():
        row = int(falls.argmax()) + 1
        raise InputError(
            f"time {time!r} of {str(path)!r} must rise from row to row of a trial, but does not at row {row} "
            "(counted from 0): sort the rows, or give --trial"
        )


def read_labels(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Columns of a table by name, of numbers or text."""
    frame = _load(path)
    for name in names:
        member("column", name, path, dict.fromkeys(frame.columns))
    return {name: _labels(path, frame, name) for name in names}


def read_columns(path: Path) -> tuple[NDArray[Any], list[str]]:
    """All columns of a table as numbers, and their names."""
    frame = _load(path)
    names = list(frame.columns)
    _no_unnamed(path, names)
    return _numbers(path, frame, names), names


def _load(path: Path) -> Any:
    frame = _load_parquet(path) if path.suffix.lower() == ".parquet" else _load_text(path)
    if not len(frame.columns):
        raise InputError(f"{str(path)!r} must have columns, got a table without any")
    if not len(frame):
        raise InputError(f"{str(path)!r} must have rows, got {len(frame.columns)} columns without any")
    frame.columns = [str(name) for name in frame.columns]  # .parquet brings numbers back too
    _no_twice(path, list(frame.columns))
    return frame


def _load_parquet(path: Path) -> Any:
    library("pandas", "reading .parquet")
    pyarrow, parquet = library("pyarrow", "reading .parquet"), library("pyarrow.parquet", "reading .parquet")
    with reading(path, pyarrow.ArrowException, LookupError, TypeError):
        table = parquet.read_table(path, partitioning=None)  # the names of the folders above are no columns
        table.validate(full=True)  # damaged text would show only when it is used
        return table.to_pandas()


def _load_text(path: Path) -> Any:
    suffix = path.suffix.lower()
    pandas = library("pandas", f"reading {suffix}")
    format = {"sep": "\t" if suffix == ".tsv" else ",", "encoding": "utf-8-sig", "skipinitialspace": True}
    problems = pandas.errors
    with reading(path, problems.ParserError, problems.EmptyDataError, OverflowError):
        first = pandas.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **format)
        _check_header(path, first.iloc[0].tolist())
        with warnings.catch_warnings():
            # Lines longer than the header would lose their ends with no more than a warning.
            warnings.simplefilter("error", problems.ParserWarning)
            try:
                return pandas.read_csv(path, index_col=False, low_memory=False, **format)
            except problems.ParserWarning:
                raise InputError(f"lines of {str(path)!r} must be as long as its header, got longer ones") from None


def _check_header(path: Path, names: Sequence[str]) -> None:
    others = [one for one in _OTHER_DELIMITERS if len(names) == 1 and one in names[0]]
    if others:
        wanted = "tabs" if path.suffix.lower() == ".tsv" else "commas"
        raise InputError(
            f"{str(path)!r} must have {wanted} between its columns, but its first line has {others[0]!r} and no "
            f"{wanted}: save it with {wanted}, and with points in numbers"
        )
    if all(map(_is_number, names)):
        raise InputError(
            f"{str(path)!r} must begin with a line of column names, got numbers ({', '.join(names[:3])}…): "
            "add a header line"
        )
    _no_twice(path, names)


def _no_twice(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise InputError(f"{str(path)!r} must have columns of different names, got {twice[0]!r} twice")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _no_unnamed(path: Path, names: Collection[str]) -> None:
    # Without this an index that was written along would pass for a measurement.
    unnamed = [index for index, name in enumerate(names) if name.startswith("Unnamed: ") or not name.strip()]
    if unnamed:
        raise InputError(
            f"column {unnamed[0]} (counted from 0) of {str(path)!r} has no name: name it in the header line, "
            "or choose others with --columns"
        )


def _features(
    path: Path, names: Collection[str], columns: Sequence[str] | None, taken: Collection[str]
) -> tuple[list[str], list[str]]:
    """The columns of the observations, and in the same order those of their partners, if there are any."""
    if columns is None:
        _no_unnamed(path, names)
    chosen = list(columns) if columns is not None else [name for name in names if name not in taken]
    partnered = {name + _PARTNER for name in chosen}
    features = [name for name in chosen if name not in partnered]
    for name in features:
        if not name.endswith(_PARTNER):
            continue
        if columns is None:
            raise InputError(
                f"column {name!r} of {str(path)!r} must be the partner of a feature {_base(name)!r}, which is not "
                "there: rename it, or choose the features with --columns"
            )
        if _base(name) in names:
            raise InputError(f"columns must name {_base(name)!r} of {str(path)!r}: its partner {name!r} comes along")
    partners = [name + _PARTNER for name in features]
    alone = [name for name, partner in zip(features, partners, strict=True) if partner not in names]
    if len(alone) == len(features):
        return features, []
    if alone:
        raise InputError(
            f"column {alone[0]!r} of {str(path)!r} must have a partner {alone[0] + _PARTNER!r}, as other columns have: "
            "add it, or leave the column out with --exclude"
        )
    return features, partners


def _base(name: str) -> str:
    return name.removesuffix(_PARTNER)


def _numbers(path: Path, frame: Any, names: Sequence[str]) -> NDArray[Any]:
    pandas = library("pandas", f"reading {path.suffix.lower()}")
    if not names:
        raise InputError(f"{str(path)!r} must have a column of numbers, got none besides the trial and labels")
    for name in names:
        if not pandas.api.types.is_numeric_dtype(frame[name].dtype):
            raise InputError(
                f"column {name!r} of {str(path)!r} must be numbers, got {_first_text(pandas, frame[name])}: "
                "leave it out with --exclude or use it as --trial"
            )
    single = all(str(frame[name].dtype).lower() in {"float16", "float32"} for name in names)
    values = [frame[name].to_numpy(np.float32 if single else np.float64, na_value=np.nan) for name in names]
    return np.stack(values, axis=1)


def _first_text(pandas: Any, column: Any) -> str:
    odd = pandas.to_numeric(column, errors="coerce").isna() & column.notna()
    if not odd.any():
        return f"dtype {column.dtype}"
    row = int(odd.to_numpy().argmax())
    return f"{str(column.iloc[row])[:40]!r} in row {row} (counted from 0)"


def _labels(path: Path, frame: Any, trial: str) -> NDArray[Any]:
    column = frame[trial]
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise InputError(
            f"column {trial!r} of {str(path)!r} must label every sample, but row {row} (counted from 0) has none"
        )
    values = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else np.array(values)
