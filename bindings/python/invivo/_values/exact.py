"""Values that have no exact form in the library: they cross as objects and arrive unchanged.

Nothing here calls the library.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Mapping
from typing import Any

from ..errors import TooLargeError
from .enumeration import Enumeration

_SCALARS = (bool, float, bytes, type(None))
_DEEPEST = 64  # as the library has it


class Exact:
    """A Python value for a Python receiver. It crosses as an object, which is opaque to the library.

    ``is_same``: the object itself arrives, also a list, dict or set, of which each receiver otherwise gets a copy.
    ``is_argument``: the library compares it with others, by `identity`.
    """

    def __init__(self, value: Any, *, is_same: bool = False, is_argument: bool = False) -> None:
        self.value = value if is_same else copied(value)
        self.is_same, self.is_argument = is_same, is_argument

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def is_fixed(self) -> bool:
        """Whether every receiver gets the same object."""
        return self.is_same or copied(self.value) is self.value

    def fresh(self) -> Any:
        """Returns the value for a receiver."""
        return self.value if self.is_same else copied(self.value)

    def identity(self) -> Hashable:
        """Returns a key that is equal for equal values of the same types."""
        return _identity(self.value)


def copied(value: Any) -> Any:
    """Returns a copy of a list, dict or set, or of a tuple that contains one. Any other object is returned itself."""
    return _copied(value, 0)


def _copied(value: Any, depth: int) -> Any:
    kind = type(value)
    if depth > _DEEPEST and kind in (list, tuple, dict):  # one that holds itself has no end
        raise TooLargeError(f"lists and maps are nested deeper than {_DEEPEST}")
    if kind is list:
        return [_copied(each, depth + 1) for each in value]
    if kind is dict:
        return {key: _copied(each, depth + 1) for key, each in value.items()}
    if kind is set:
        return set(value)
    if kind is tuple:
        items = [_copied(each, depth + 1) for each in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else tuple(items)
    return value


def _identity(value: Any) -> Hashable:
    kind = type(value)
    if kind in (list, tuple):
        return kind, tuple(map(_identity, value))
    if kind in (set, frozenset):
        return kind, frozenset(map(_identity, value))
    if kind is dict:
        return kind, tuple((_identity(key), _identity(each)) for key, each in value.items())
    if kind is float:
        return kind, repr(value)
    if isinstance(value, enum.Enum):
        return kind, id(value)
    try:
        hash(value)
    except Exception:
        return kind, id(value)
    return kind, value


def crosses(value: Any) -> bool:
    """Whether a value that has crossed is, in Python, the same value again."""
    return _crosses(value, 0)


def _crosses(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is str:
        return _is_utf8(value)
    if kind is int:
        return bool(-(1 << 63) <= value < 1 << 64)
    if depth > _DEEPEST:
        return True  # refused where it is packed
    if kind is list:
        return all(_crosses(each, depth + 1) for each in value)
    if kind is dict:
        return all(type(key) is str and _is_utf8(key) and _crosses(each, depth + 1) for key, each in value.items())
    return not _is_converted(value)


def _is_converted(value: Any) -> bool:
    """Whether the library converts an object into a value."""
    kind = type(value)
    if isinstance(value, (int, float, str, bytes, bytearray, memoryview, tuple, list, set, frozenset, Mapping)):
        return kind is not Enumeration
    if isinstance(value, enum.Enum):
        return True
    return not callable(value) and (hasattr(kind, "__index__") or hasattr(kind, "__float__"))


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def wrapped(value: Any, *, whole: bool = True, is_same: bool = False, is_argument: bool = False) -> Any:
    """Returns a value for a Python receiver, where it arrives unchanged.

    ``whole``: the receiver takes an object. Otherwise it takes a list or map of the library, and only its items are
    wrapped.
    """
    kind = type(value)
    is_copied = kind in (list, dict, set) and is_same
    if kind is Exact or (crosses(value) and not (is_copied and whole)):
        return value
    if whole:
        return Exact(value, is_same=is_same, is_argument=is_argument)
    if kind in (list, tuple, set, frozenset):
        return [wrapped(each, is_same=is_same, is_argument=is_argument) for each in value]
    if kind is dict and all(type(key) is str and _is_utf8(key) for key in value):
        return {name: wrapped(each, is_same=is_same, is_argument=is_argument) for name, each in value.items()}
    return value
