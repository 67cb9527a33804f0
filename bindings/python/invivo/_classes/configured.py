"""Annotations of values of the configuration that the library cannot check: `_settings` reads them.

Nothing here calls the library.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import re
import types
import typing
from typing import Any, Literal

_LISTS = (list, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable)
_SETS = (set, collections.abc.Set, collections.abc.MutableSet)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_PLAIN = (bool, int, float, str, bytes)


def needs_reader(annotation: Any) -> bool:
    """Whether the kinds of values of the library cannot express an annotation."""
    annotation = _bare(annotation)
    if annotation is Any or annotation is None or annotation in _PLAIN + _LISTS + _MAPS:
        return False
    if isinstance(annotation, (str, typing.TypeVar, typing.ForwardRef)) or annotation in (type(None), object, type):
        return False
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [each for each in arguments if each is not type(None)]
        return len(rest) > 1 or needs_reader(rest[0])
    if origin in _LISTS:
        return _says_more(arguments[0])
    if origin in _MAPS:
        return _says_more(arguments[1])
    if annotation in _SETS or annotation in (tuple, frozenset) or origin in (*_SETS, tuple, frozenset, Literal):
        return True
    cls = origin if isinstance(origin, type) else annotation
    if not isinstance(cls, type):
        return False
    others: tuple[Any, ...] = (type, collections.abc.Callable)
    if cls in others or cls.__module__ == "typing":
        return False
    return not f"{cls.__module__}.".startswith("invivo.")


def has_conditions(annotation: Any) -> bool:
    """Whether `Annotated` has conditions of annotated_types or pydantic, such as ``Gt(0)``."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return False
    return any(not isinstance(note, str) and not _is_own(note) for note in annotation.__metadata__)


def _is_own(note: Any) -> bool:
    return type(note).__module__.startswith("invivo.") or getattr(note, "__module__", "").startswith("invivo.")


def _says_more(annotation: Any) -> bool:
    annotation = _bare(annotation)
    return annotation in _PLAIN or needs_reader(annotation)


def _bare(annotation: Any) -> Any:
    while True:
        if isinstance(annotation, dataclasses.InitVar):
            annotation = annotation.type
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif typing.get_origin(annotation) in (typing.Annotated, typing.Final):
            annotation = typing.get_args(annotation)[0]
        else:
            break
    try:
        hash(annotation)
    except TypeError:
        return Any
    return annotation


def shown(annotation: Any) -> str:
    """Returns an annotation as it is written."""
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(?:typing|collections\.abc|[a-z_]+(?:\.[a-z_<>]+)*)\.(?=[A-Za-z])", "", str(annotation))
