"""The command line. Thin: it reads words, calls the library and prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer

from identica._checks import DivergenceError, InputError, LostRankError
from identica._files import InUseError, StorageError
from identica._launched import launched
from identica._signals import TERMINATED, TerminatedError, termination_told
from identica.cli import data as data
from identica.cli import datasets as datasets
from identica.cli import downloads as downloads
from identica.cli import figures as figures
from identica.cli import paper as paper
from identica.cli import rendering as rendering
from identica.cli import theory as theory
from identica.cli._app import BAD_INPUT, FAILED, INTERRUPTED, app
from identica.cli._said import InterruptedWork
from identica.cli._warnings import in_one_line

__all__ = ["app", "main"]

# What typer raises for wrong words on the command line; it has its own copy of click, or an installed one.
_USAGE_ERROR: Any = typer.BadParameter.__mro__[2]
# Options that have one name in all commands now.
_RENAMED = {
    "--random-state": "--seed",
    "--max-steps": "--steps",
    "--workers": "--jobs",
    "--validation-fraction": "--held-out",
}


def main() -> None:
    """Entry point: one clear line for bad input, no traceback."""
    try:
        with in_one_line(), termination_told(), _one_voice():
            code = app(standalone_mode=False)
    except _USAGE_ERROR as error:
        _end(_usage(error), BAD_INPUT)
    except InputError as error:
        _end(str(error), BAD_INPUT)
    except (DivergenceError, InUseError, LostRankError, StorageError) as error:
        _end(str(error), FAILED)
    except OSError as error:
        _end(f"{error.strerror or type(error).__name__}: {error.filename or error}", FAILED)
    except InterruptedWork as error:
        _end(f"interrupted; {error}", INTERRUPTED)
    except TerminatedError as error:
        _end(f"interrupted; {error}" if str(error) else "interrupted", TERMINATED)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer itself may turn Ctrl-C into this code
        _end("interrupted", INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _end(text: str, code: int) -> None:
    print(f"identica: {text}", file=sys.stderr)
    sys.exit(code)


def _usage(error: Any) -> str:
    """What is wrong with the words; an option of another name is named."""
    text: str = error.format_message()
    newer = _RENAMED.get(getattr(error, "option_name", None) or "")
    return text if newer is None else f"{error.option_name} is {newer} now: give {newer}"


@contextmanager
def _one_voice() -> Iterator[None]:
    """Of several processes that do the same, the first one prints."""
    if launched().is_first:
        yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield
