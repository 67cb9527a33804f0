"""The secret parts of annotations, as paths below a section."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any

from .._declarations.secrets import SecretMark, is_secret_class
from . import models, records

Path = tuple[str, ...]
_ALIAS: Any = getattr(typing, "TypeAliasType", ())


def paths_of(annotation: Any) -> list[str]:
    """Returns the paths of the secret parts of a section; "" is the whole section.

    A secret in a list or in the values of a map makes the whole list or map secret.
    """
    return sorted({".".join(each) for each in _paths(annotation, frozenset())})


def _paths(annotation: Any, around: frozenset[Any]) -> Iterator[Path]:
    """``around`` are the classes whose fields lead to the annotation: they may refer to themselves."""
    if isinstance(annotation, dataclasses.InitVar):
        annotation = annotation.type
    annotation = getattr(annotation, "__supertype__", annotation)
    if _ALIAS and isinstance(annotation, _ALIAS):
        if annotation not in around:
            yield from _paths(annotation.__value__, around | {annotation})
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        if any(map(_is_mark, annotation.__metadata__)):
            yield ()
        else:
            yield from _paths(arguments[0], around)
        return
    cls = origin or annotation
    if is_secret_class(cls):
        yield ()
    elif isinstance(cls, type) and cls is not types.UnionType:
        yield from _of_class(cls, arguments, around)
    elif origin is not typing.Literal:  # a union, Final, Required
        for each in arguments:
            yield from _paths(each, around)


def _of_class(cls: type, arguments: tuple[Any, ...], around: frozenset[Any]) -> Iterator[Path]:
    if cls in around:
        return
    fields = _fields(cls)
    if not fields:
        if any(True for each in arguments for _ in _paths(each, around)):
            yield ()
        return
    variables = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
    for name, annotation, notes in fields:
        if any(map(_is_mark, notes)):
            yield (name,)
            continue
        for each in _paths(variables.get(annotation, annotation), around | {cls}):
            yield (name, *each)


def _fields(cls: type) -> list[tuple[str, Any, Any]]:
    """The fields of a record or model: the name in documents, the annotation, and what is noted beside it."""
    if models.is_model(cls):
        return list(models.fields_of(cls))
    return [(name, each.annotation, ()) for name, each in (records.fields_of(cls) or {}).items()]


def _is_mark(note: Any) -> bool:
    return isinstance(note, SecretMark)
