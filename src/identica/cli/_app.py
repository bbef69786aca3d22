"""The application that commands register with, and what they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from identica import __version__
from identica._checks import InputError

if TYPE_CHECKING:
    from identica.experiments import RunStore

__all__ = ["BAD_INPUT", "FAILED", "INTERRUPTED", "AsJson", "app", "existing_store"]

BAD_INPUT, INTERRUPTED, FAILED = 2, 130, 1

app = typer.Typer(
    help="Recover the hidden factors behind data by contrastive learning.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
"""The application that all commands belong to."""

AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout, one object a line, and nothing else.")]


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
    from identica.experiments import RunStore

    if not folder.is_dir():
        raise InputError(f"DIR must be the folder of a run store, got {str(folder)!r}, which is not a folder")
    return RunStore(folder)
