from __future__ import annotations

import ast
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import identica

DOCS = Path(__file__).parents[1] / "docs" / "api"
MODULES = ["identica"] + [
    found.name
    for found in pkgutil.walk_packages(identica.__path__, "identica.")
    if not any(part.startswith("_") for part in found.name.split("."))
]


def public_names(module: str) -> Iterator[tuple[str, Any]]:
    loaded = import_module(module)
    assert hasattr(loaded, "__all__"), f"{module} must say in __all__ what is public"
    return ((name, getattr(loaded, name)) for name in loaded.__all__ if not name.startswith("__"))


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_documented(module: str) -> None:
    assert import_module(module).__doc__
    bare = [name for name, value in public_names(module) if not is_documented(import_module(module), name, value)]
    assert not bare, f"names of {module} without a docstring: {', '.join(bare)}"


@pytest.mark.parametrize("module", MODULES)
def test_public_methods_are_documented(module: str) -> None:
    classes = [value for _, value in public_names(module) if inspect.isclass(value)]
    bare = [f"{owner.__name__}.{name}" for owner in classes for name in vars(owner) if lacks_docstring(owner, name)]
    assert not bare, f"methods in {module} without a docstring: {', '.join(bare)}"


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_in_the_reference(module: str, reference: list[Any]) -> None:
    missing = [name for name, value in public_names(module) if not any(value is shown for shown in reference)]
    assert not missing, f"names of {module} that no page of docs/api shows: {', '.join(missing)}"


@pytest.fixture(scope="module")
def reference() -> list[Any]:
    """Every object that a page of the reference shows: what `:::` names, and the public names of modules."""
    shown = []
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            value = pkgutil.resolve_name(target)
            shown += [one for _, one in public_names(target)] if isinstance(value, ModuleType) else [value]
    return shown


def is_documented(module: ModuleType, name: str, value: Any) -> bool:
    if inspect.isfunction(value):
        return bool(value.__doc__)
    if inspect.isclass(value):
        written = vars(value)["__doc__"] or ""
        return bool(written) and not written.startswith(f"{value.__name__}(")  # what dataclasses write themselves
    assert module.__file__ is not None
    own = Path(module.__file__)
    files = [own, *own.parent.glob("*.py")]  # packages pass on the names of their modules
    return any(has_string_below(file, name) for file in files)


def has_string_below(file: Path, name: str) -> bool:
    """Whether the file gives the name a value, and says in a string on the next line what it is."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return any(
        isinstance(statement, ast.Assign | ast.AnnAssign)
        and name in ast.unparse(statement).split("=")[0].split(":")[0].split()
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
        for statement, below in pairwise(body)
    )


def lacks_docstring(owner: type, name: str) -> bool:
    """Whether this is a public method or property without a docstring, here or in the class that it is from."""
    value = vars(owner)[name]
    value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if name.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
        return False
    return not any(getattr(vars(base).get(name), "__doc__", None) for base in owner.__mro__)
