"""The command line. Thin: it reads words, calls the library and prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer

from identica._checks import InputError
from identica._files import InUseError, StorageError
from identica._ranks import launched
from identica._signals import TERMINATED, TerminatedError, termination_told
from identica.cli import data as data
from identica.cli import downloads as downloads
from identica.cli import figures as figures
from identica.cli import paper as paper
from identica.cli import theory as theory
from identica.cli._app import BAD_INPUT, FAILED, INTERRUPTED, app
from identica.cli._warnings import in_one_line
from identica.training import DivergenceError, LostRankError

__all__ = ["app", "main"]

# What typer raises for wrong words on the command line; it has its own copy of click, or an installed one.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[2]


def main() -> None:
    """Entry point: one clear line for bad input, no traceback."""
    try:
        with in_one_line(), termination_told(), _one_voice():
            code = app(standalone_mode=False)
    except _USAGE_ERROR as error:
        print(f"identica: {error.format_message()}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except InputError as error:
        print(f"identica: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except (DivergenceError, InUseError, LostRankError, StorageError) as error:
        print(f"identica: {error}", file=sys.stderr)
        sys.exit(FAILED)
    except TerminatedError:
        code = TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code in (INTERRUPTED, TERMINATED):  # typer itself may turn Ctrl-C into this code
        advice = "the same command goes on from the last checkpoint, if it keeps any"
        print(f"identica: interrupted; {advice}", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _one_voice() -> Iterator[None]:
    """Of several processes that do the same, the first one prints."""
    if launched().is_first:
        yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield
