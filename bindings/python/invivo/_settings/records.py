"""Readers of maps with named fields: dataclasses, typed dictionaries and named tuples."""

from __future__ import annotations

import dataclasses
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._classes.annotations import hints_of
from .._native import signals
from .._values.members import nearest
from ..errors import NotConfiguredError, PropertyError
from .faults import NOTHING, Faults, Reader, Variable
from .scalars import EXACT, refused

REQUIRED: Any = getattr(typing, "Required", None)  # since Python 3.11
NOT_REQUIRED: Any = getattr(typing, "NotRequired", None)

ReaderOf = Callable[[Any], Reader]


class Field(NamedTuple):
    annotation: Any
    is_required: bool


class Record:
    """Reads a map with known names into an object."""

    __slots__ = (
        "_items",
        "_required",
        "_types",
        "choices",
        "construct",
        "exact",
        "name",
        "nullable",
        "readers",
        "required",
    )

    def __init__(self, name: str, construct: Callable[..., Any]) -> None:
        self.name, self.construct = name, construct
        self.readers: dict[str, Reader] = {}
        self.exact: dict[str, type] = {}  # the types of values that need no reader
        self.required: tuple[str, ...] = ()
        self.nullable: set[str] = set()  # the fields that may be None
        self._required: frozenset[str] = frozenset()
        self._items: Callable[[Any], tuple[Any, ...]] | None = None  # the values of all fields, if all have exact types
        self._types: tuple[type, ...] = ()
        self.choices: dict[str, tuple[Any, ...]] = {}  # of the fields that are literals: they tell unions apart

    def fill(self, fields: Mapping[str, Field], reader_of: ReaderOf) -> None:
        """Reads the annotations of the fields: after it is known, because they may refer to it."""
        for name, field in fields.items():
            reader = self.readers[name] = reader_of(field.annotation)
            if reader in EXACT:
                self.exact[name] = EXACT[reader]
            if allows_null(field.annotation):
                self.nullable.add(name)
            if typing.get_origin(field.annotation) is typing.Literal:
                self.choices[name] = typing.get_args(field.annotation)
        self.required = tuple(name for name, field in fields.items() if field.is_required)
        self._required = frozenset(self.required)
        if len(self.exact) == len(fields) > 1:
            self._items = operator.itemgetter(*fields)
            self._types = tuple(self.exact[name] for name in fields)

    def fits(self, value: dict[str, Any]) -> bool:
        """Whether the literals of a map are those of this record."""
        return all(name not in value or _in(value[name], choices) for name, choices in self.choices.items())

    def __call__(self, value: Any, faults: Faults) -> Any:
        if type(value) is not dict:
            return faults.expected(f"a map for {self.name}", value)
        if self._items is not None and len(value) == len(self.readers) and self._are_exact(value):
            return self._constructed(value, faults)
        readers, exact = self.readers, self.exact.get
        given = {}
        count = before = len(faults)
        for name, each in value.items():
            if type(each) is exact(name):
                given[name] = each
                continue
            reader = readers.get(name)
            if reader is None:
                near = nearest(name, readers) or f"; it has {', '.join(readers)}"
                faults.add(f"{self.name} has no field {name!r}{near}", name, kind=PropertyError)
                before = len(faults)
                continue
            made = reader(each, faults)
            if made is NOTHING:
                faults.within(name, before)
                before = len(faults)
            else:
                given[name] = made
        if not value.keys() >= self._required:
            for name in self.required:
                if name not in value:
                    faults.add(f"{self.name} {not_set(name, name in self.nullable)}", name, kind=NotConfiguredError)
        return NOTHING if len(faults) > count else self._constructed(given, faults)

    def _are_exact(self, value: dict[str, Any]) -> bool:
        """Whether a map has all fields, and their values need no readers."""
        assert self._items is not None
        try:
            return tuple(map(type, self._items(value))) == self._types
        except KeyError:
            return False

    def _constructed(self, given: dict[str, Any], faults: Faults) -> Any:
        try:
            return self.construct(**given)
        except Exception as problem:
            signals.pass_on(problem)
            return refused(faults, self.name, problem)


def not_set(name: str, is_nullable: bool) -> str:
    """Returns the part of an error about a field without a value."""
    if not is_nullable:
        return f"needs {name!r}, which is not set"
    return (
        f"needs {name!r}, which is not set: null removes a value in a document, so give the field a default, "
        f"such as '{name}: ... = None'"
    )


def allows_null(annotation: Any) -> bool:
    """Whether an annotation is a union with None."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return allows_null(typing.get_args(annotation)[0])
    return origin in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation)


def _in(value: Any, choices: tuple[Any, ...]) -> bool:
    if type(value) is Variable:
        value = value.value
    return any(type(value) is type(each) and value == each for each in choices)


def is_typed_dictionary(cls: Any) -> bool:
    """Whether a class is a `TypedDict`, also that of typing_extensions."""
    return isinstance(cls, type) and hasattr(cls, "__required_keys__") and hasattr(cls, "__total__")


def fields_of(cls: Any) -> dict[str, Field] | None:
    """Returns the fields of a record; None for another class."""
    if dataclasses.is_dataclass(cls):
        hints = hints_of(cls)
        missing = dataclasses.MISSING
        found = {
            each.name: Field(hints.get(each.name, Any), each.default is missing and each.default_factory is missing)
            for each in dataclasses.fields(cls)
            if each.init
        }
        for name, each in cls.__dataclass_fields__.items():  # of the initializer alone
            if isinstance(hints.get(name), dataclasses.InitVar):
                found[name] = Field(hints[name].type, each.default is missing)
        return found
    if is_typed_dictionary(cls):
        hints = typing.get_type_hints(cls, include_extras=True)
        found = {}
        for name, annotation in hints.items():
            # A class whose annotations are strings does not know these.
            origin = typing.get_origin(annotation)
            marks = {REQUIRED: True, NOT_REQUIRED: False}
            is_required = marks.get(origin, name in cls.__required_keys__) if origin else name in cls.__required_keys__
            found[name] = Field(annotation, is_required)
        return found
    names: Any = getattr(cls, "_fields", None)
    if isinstance(cls, type) and issubclass(cls, tuple) and names is not None:
        hints, defaults = hints_of(cls), getattr(cls, "_field_defaults", {})
        return {name: Field(hints.get(name, Any), name not in defaults) for name in names}
    return None


def given(annotation: Any, variables: dict[Any, Any]) -> Any:
    """Replaces the type variables of a generic class."""
    if annotation in variables:
        return variables[annotation]
    parameters = getattr(annotation, "__parameters__", ())
    return annotation[tuple(variables.get(each, each) for each in parameters)] if parameters else annotation
