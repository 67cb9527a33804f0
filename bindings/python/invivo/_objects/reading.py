"""Attributes whose values in spec files are read by their annotations."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

from .._classes.classes import Property
from .._values.enumeration import Enumeration
from ..errors import Error
from .entries import Entry

if TYPE_CHECKING:
    from .._settings.schema import Find

Origin: TypeAlias = tuple[Any, Any, Any]
"""The value of a spec file that an attribute got, what was read from it, and a copy of that if it can change."""

_WRITTEN = (bool, int, float, str, bytes, list, dict)
_CHANGEABLE = (list, dict, set, bytearray)


class Reader:
    """Reads the values of one attribute.

    The library reads an attribute back after setting it, and compares. So the entry of the object keeps the value of
    the spec file for as long as the attribute has the value that was read from it.
    """

    __slots__ = ("_hint", "_name", "_schema")

    def __init__(self, described: Property, find: Find) -> None:
        from .._settings.schema import Schema  # slow to import, and rarely needed

        self._name, self._hint = described.name, described.hint
        self._schema = Schema(described.annotation, find)

    def read(self, given: Any) -> Any:
        """Returns the value that an attribute gets. An object that the program gives stays as it is."""
        if given is not None and (type(given) not in _WRITTEN or isinstance(given, Enumeration)):
            return given
        try:
            return self._schema.read(given, hides=True)  # the document may be one whose values errors must not quote
        except Error as problem:
            raise _as_one(problem) from problem.__cause__

    def note(self, entry: Entry | None, given: Any, value: Any) -> None:
        """Notes that an attribute gets a value that was read."""
        if entry is None or value is given:
            return
        if entry.given is None:
            entry.given = {}
        entry.given[self._name] = given, value, copy.copy(value) if isinstance(value, _CHANGEABLE) else value

    def written(self, entry: Entry | None, value: Any) -> Any:
        """Returns the value of an attribute as it crosses to the library."""
        known = origin_of(entry, self._name)
        if known is not None and value is known[1] and (type(value) not in _CHANGEABLE or value == known[2]):
            return known[0]
        return list(value) if isinstance(value, (set, frozenset)) else self._hint.encode(value)


def origin_of(entry: Entry | None, name: str) -> Origin | None:
    """Returns the origin of the value of an attribute; None if it was not read from a spec file."""
    return None if entry is None or entry.given is None else entry.given.get(name)


def put_back_origin(entry: Entry | None, name: str, origin: Origin | None) -> None:
    """Notes the former origin of an attribute that has its former value again."""
    if entry is None or entry.given is None:
        return
    if origin is None:
        entry.given.pop(name, None)
    else:
        entry.given[name] = origin


def _as_one(problem: Error) -> Error:
    """Returns the errors about the parts of a value as one error, because the library locates the whole value."""
    parts = []
    for each in problem.errors:
        path = "".join(f"[{name}]" if name.isdecimal() else f".{name}" for name in each.path.split(".") if name)
        parts.append(f"{path.removeprefix('.')}: {each.message}" if path else each.message)
    return type(problem)("; ".join(parts))


def reader_of(described: Property, find: Find) -> Reader | None:
    """Returns the reader of an attribute; None if the library checks its values."""
    return None if described.annotation is None else Reader(described, find)
