"""The command line. Thin: it reads words, calls the library and prints."""

from __future__ import annotations

import sys
from typing import Any

import typer

from identica._checks import InputError
from identica.cli import data as data
from identica.cli import datasets as datasets
from identica.cli import downloads as downloads
from identica.cli import figures as figures
from identica.cli import paper as paper
from identica.cli import rendering as rendering
from identica.cli import theory as theory
from identica.cli._app import BAD_INPUT, FAILED, INTERRUPTED, app
from identica.cli._warnings import in_one_line
from identica.training import DivergenceError

__all__ = ["app", "main"]

# What typer raises for wrong words on the command line; it has its own copy of click, or an installed one.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[2]


def main() -> None:
    """Entry point: one clear line for bad input, no traceback."""
    try:
        with in_one_line():
            code = app(standalone_mode=False)
    except _USAGE_ERROR as error:
        print(f"identica: {error.format_message()}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except InputError as error:
        print(f"identica: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except DivergenceError as error:
        print(f"identica: {error}", file=sys.stderr)
        sys.exit(FAILED)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer itself may turn Ctrl-C into this code
        advice = "the same command goes on from the last checkpoint, if it keeps any"
        print(f"identica: interrupted; {advice}", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)
