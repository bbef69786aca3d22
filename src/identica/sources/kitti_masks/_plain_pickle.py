"""Lists, dicts, numbers, text and numpy arrays of numbers from a pickle, in which nothing else can happen.

A pickle is a small program that calls what it names. Here it can name six things, and each of them stands for something
below: numpy itself never sees what the file says before it was checked.
"""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["PlainUnpickler", "UnpicklingError", "arrays_of"]

UnpicklingError = pickle.UnpicklingError

_KINDS = "biuf"
_MOST_AXES = 8


@final
class _Kind:
    """What `numpy.dtype` makes: the kind of numbers, of which the state tells the order of bytes."""

    __slots__ = ("dtype",)

    def __init__(self, code: Any, *flags: Any) -> None:
        text = code.decode("latin1") if isinstance(code, bytes) else code
        if not isinstance(text, str) or not text.isascii() or len(text) > 3 or text[:1] not in _KINDS:
            raise UnpicklingError(f"arrays must hold numbers, got {text!r}")
        try:
            self.dtype = np.dtype(text)
        except TypeError:
            raise UnpicklingError(f"arrays must hold numbers, got {text!r}") from None

    def __setstate__(self, state: Any) -> None:
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else None
        order = order.decode("latin1") if isinstance(order, bytes) else order
        if order not in {"<", ">", "|", "="} or any(part is not None for part in state[2:5]):
            raise UnpicklingError("arrays must hold plain numbers, got a compound kind")
        if order in {"<", ">"}:
            self.dtype = self.dtype.newbyteorder("<" if order == "<" else ">")


@final
class _Array:
    """What `numpy`'s `_reconstruct` makes: an array that is empty until its state comes."""

    __slots__ = ("values",)

    def __init__(self, *arguments: Any) -> None:
        self.values: NDArray[Any] = np.empty(0)

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) != 5:
            raise UnpicklingError("an array must be described by its version, shape, kind, order and content")
        _, shape, kind, by_columns, content = state
        content = content.encode("latin1") if isinstance(content, str) else content
        self.values = _numbers(content, kind, shape, "F" if by_columns else "C")


def _numbers(content: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    """An array of these bytes; their number must be that of the shape."""
    if not isinstance(kind, _Kind) or not isinstance(content, bytes | bytearray):
        raise UnpicklingError("an array must have a kind of numbers and bytes")
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if len(sizes) > _MOST_AXES or not all(type(size) is int and size >= 0 for size in sizes):
        raise UnpicklingError(f"an array must have a shape of whole numbers, got {str(shape)[:40]}")
    if math.prod(sizes) * kind.dtype.itemsize != len(content):
        raise UnpicklingError(f"an array of shape {list(sizes)} must have its bytes, got {len(content)}")
    return np.frombuffer(content, kind.dtype).reshape(sizes, order="F" if order == "F" else "C")


def _from_buffer(content: Any, kind: Any, shape: Any, order: Any = "C") -> _Array:
    found = _Array()
    found.values = _numbers(content, kind, shape, order)
    return found


def _scalar(kind: Any, content: Any = b"") -> Any:
    return _numbers(content.encode("latin1") if isinstance(content, str) else content, kind, (), "C").item()


def _latin(text: Any, encoding: Any = "latin1") -> bytes:
    """Bytes that old protocols write as text."""
    if not isinstance(text, str) or encoding not in {"latin1", "latin-1"}:
        raise UnpicklingError(f"text must be encoded as latin1, got {str(encoding)[:40]!r}")
    return text.encode("latin1")


def _no_call(*arguments: Any) -> NoReturn:
    raise UnpicklingError("arrays must be made the way numpy writes them")


@final
class _Named:
    """A name that a pickle may use: it can be called, and nothing about it can be changed."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *arguments: Any) -> Any:
        return self._make(*arguments)

    def __setstate__(self, state: Any) -> NoReturn:
        raise UnpicklingError("a name cannot be changed")


_NAMES: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "dtype"): _Kind,
    ("numpy", "ndarray"): _no_call,
    ("_codecs", "encode"): _latin,
}
for _core in ("numpy.core", "numpy._core"):
    _NAMES[f"{_core}.multiarray", "_reconstruct"] = _Array
    _NAMES[f"{_core}.multiarray", "scalar"] = _scalar
    _NAMES[f"{_core}.numeric", "_frombuffer"] = _from_buffer


@final
class PlainUnpickler(pickle.Unpickler):
    """Reads a pickle of arrays, lists, dicts, numbers and text; `arrays_of` puts numpy arrays in their places.

    Args:
        content: The pickle.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")

    def find_class(self, module: str, name: str) -> Any:
        """One of the few names that arrays need; any other is refused before it is looked up."""
        make = _NAMES.get((module, name))
        if make is None:
            raise UnpicklingError(f"it wants to call {module}.{name}, and only numpy arrays are read")
        return _Named(make)


def arrays_of(value: Any) -> Any:
    """A numpy array in the place of what was read for one; a list of them likewise."""
    if isinstance(value, _Array):
        return value.values
    return [arrays_of(one) for one in value] if isinstance(value, list | tuple) else value
