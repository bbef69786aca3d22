"""Options from a file of settings, so that a long command line need not be written twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from identica._checks import InputError, suggestion

__all__ = ["read_config"]


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take options of a command from a .toml file; those on the command line go first.

    Keys are names of options without dashes in front, either by themselves or in a table of the command's name.
    """
    if path is None:
        return None
    words = _words(context)
    content = _load(path)
    plain = {key: value for key, value in content.items() if not isinstance(value, dict)}
    table: Any = content
    for word in words:
        table = table.get(word, {}) if isinstance(table, dict) else {}
    own = {key: value for key, value in table.items() if not isinstance(value, dict)}
    known = _names(context)
    found = {}
    for key, value in (plain | own).items():
        name = key.replace("-", "_")
        if name not in known:
            near = suggestion(key, [one.replace("_", "-") for one in known])
            raise InputError(f"{key!r} in {str(path)!r} is no option of `{' '.join(words)}`: {near}see --help")
        found[known[name]] = _as_written(value)
    context.default_map = {**(context.default_map or {}), **found}
    return path


def _words(context: typer.Context) -> list[str]:
    """The names of a command and of the groups that it is in, without the program's."""
    found: list[str] = []
    while context.parent is not None:
        found.insert(0, context.info_name or "")
        context = context.parent  # type: ignore[assignment]
    return found


def _names(context: typer.Context) -> dict[str, str]:
    """Names of parameters by what a file may call them."""
    known: dict[str, str] = {}
    for parameter in context.command.params:
        if parameter.name is None or parameter.name in ("config", "help"):
            continue
        written = [one.lstrip("-").replace("-", "_") for one in parameter.opts if one.startswith("--")]
        known |= dict.fromkeys([*written, parameter.name] if written else [], parameter.name)
    return known


def _as_written(value: Any) -> Any:
    """Lists as the command line has them: separated by commas."""
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _load(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except (OSError, ValueError) as error:
        raise InputError(f"--config {str(path)!r} cannot be read as .toml: {' '.join(str(error).split())}") from None
