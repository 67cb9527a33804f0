"""Documents that differ from a valid one in one place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

# Values of other kinds, and values that few ranges contain.
OTHERS: tuple[Any, ...] = ([], {}, "no such thing", True, 1e30, -1e30, None)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of a value and of all values in it."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(document)
    if not path:
        return value
    at(made, path[:-1])[path[-1]] = value
    return made


def mutants(document: Any) -> Iterator[tuple[str, Any]]:
    """Yields documents, each with the change that it has."""
    for path in places(document):
        shown = ".".join(map(str, path))
        value = at(document, path)
        for other in OTHERS if path else ():
            if type(other) is not type(value) or other != value:
                yield f"{shown} = {other!r}", changed(document, path, other)
        if isinstance(value, dict):
            yield f"{shown} + zzz", changed(document, path, {**value, "zzz": 1})
            for name in value:
                rest = {key: each for key, each in value.items() if key != name}
                yield f"{shown} - {name}", changed(document, path, rest)
        elif isinstance(value, list):
            yield f"{shown} + []", changed(document, path, [*value, []])
