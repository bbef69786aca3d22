"""The application that commands register with, and what they share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from identica import __version__
from identica._checks import InputError
from identica.cli._config import read_config
from identica.cli._said import quietly

if TYPE_CHECKING:
    from identica.experiments import RunStore

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "AsJson", "Commands", "app", "existing_store"]

BAD_INPUT, INTERRUPTED, FAILED = 2, 130, 1

AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout, one object a line, and nothing else.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no words beside results and warnings.")]
_Config = Annotated[
    Path | None,
    typer.Option("--config", help="A .toml file of options.", callback=read_config, is_eager=True),
]


class Commands(typer.Typer):
    """A group of commands, each of which takes --config and --quiet too, and -h for --help."""

    def __init__(self, **settings: Any) -> None:
        usual = {"context_settings": {"help_option_names": ["-h", "--help"]}, "rich_markup_mode": None}
        super().__init__(**usual | settings)

    def command(self, *words: Any, **settings: Any) -> Callable[[Any], Any]:
        """Register a function as a command."""
        register = super().command(*words, **settings)

        def decorate(function: Any) -> Any:
            register(_with_common_options(function))
            return function

        return decorate


app = Commands(
    help="Recover the hidden factors behind data by contrastive learning.",
    pretty_exceptions_enable=False,
)
"""The application that all commands belong to."""


def _with_common_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with the options that all of them take."""
    hints = get_type_hints(command, include_extras=True)
    own = [one.replace(annotation=hints[one.name]) for one in inspect.signature(command).parameters.values()]
    common = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, default, kind in (("quiet", False, _Quiet), ("config", None, _Config))
    ]

    @functools.wraps(command)
    def call(*, quiet: bool, config: Path | None, **given: Any) -> None:
        with quietly(quiet):
            command(**given)

    call.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in [*own, *common]}
    return call


@app.callback(invoke_without_command=True)
def _identica(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        print(f"identica {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def existing_store(folder: Path) -> RunStore:
    """The run store in a folder that is there."""
    if not folder.is_dir():
        raise InputError(f"DIR must be the folder of a run store, got {str(folder)!r}, which is not a folder")
    from identica.experiments import RunStore

    return RunStore(folder)
