"""Annotations as readers: one function for each annotation, which reads values of the configuration.

Nothing here calls the library.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from .._classes import configured
from .._declarations.secrets import is_secret_class
from .._native import signals
from ..errors import RangeError, WrongTypeError
from . import models, records, scalars, secrets
from .faults import NOTHING, Faults, Reader, Variable

Find = Callable[[type], Callable[[str], Any] | None]
LISTS: tuple[Any, ...] = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)
SETS: tuple[Any, ...] = (set, collections.abc.Set, collections.abc.MutableSet)
MAPS: tuple[Any, ...] = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
TYPE_ALIAS: Any = getattr(typing, "TypeAliasType", ())


class Schema:
    """The reader of one annotation, with those of its parts."""

    def __init__(self, annotation: Any, find: Find) -> None:
        self._find = find
        self._known: dict[Any, Reader] = {}
        self.secrets = secrets.paths_of(annotation)
        """The paths of the secret parts."""
        self.annotation = annotation
        self._read = self._reader(annotation)

    def read(self, value: Any, variables: dict[str, str | None] | None = None, *, hides: bool = False) -> Any:
        """Reads a section. Raises all errors at once, each with its path in the section.

        ``variables``: the strings of values with environment variables, by their paths. ``hides``: errors do not quote
        values.
        """
        faults = Faults(hides=hides or bool(self.secrets))
        if variables:
            value = _marked(value, "", variables)
        made = self._read(value, faults)
        if made is NOTHING:
            raise faults.error() from None
        return made

    # ---- annotations -----------------------------------------------------------------------------------

    def _reader(self, annotation: Any) -> Reader:
        try:
            known = self._known.get(annotation)
        except TypeError:
            return self._described(annotation)
        if known is None:
            known = self._described(annotation)
            self._known[annotation] = known
        return known

    def _described(self, annotation: Any) -> Reader:
        if isinstance(annotation, dataclasses.InitVar):
            return self._reader(annotation.type)
        if hasattr(annotation, "__supertype__"):
            return self._reader(annotation.__supertype__)
        if TYPE_ALIAS and isinstance(annotation, TYPE_ALIAS):
            return self._later(annotation, lambda: annotation.__value__)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self._constrained(self._reader(arguments[0]), annotation.__metadata__)
        if origin is not None and origin in (typing.Final, records.REQUIRED, records.NOT_REQUIRED):
            return self._reader(arguments[0])
        if isinstance(annotation, typing.TypeVar):
            return self._reader(annotation.__bound__ or Any)
        if isinstance(annotation, (str, typing.ForwardRef)):
            raise WrongTypeError(
                f"the annotation {annotation!r} cannot be resolved: define its class at the module's level"
            )
        try:
            scalar = scalars.SCALARS.get(annotation)
        except TypeError:
            scalar = None
        if scalar is not None:
            return scalar
        if origin in (typing.Union, types.UnionType):
            return self._union(annotation, arguments)
        if origin is typing.Literal:
            return scalars.literal(arguments)
        return self._class(annotation, origin or annotation, arguments)

    def _later(self, annotation: Any, inner: Callable[[], Any]) -> Reader:
        """Reads an annotation that may refer to itself."""
        found: list[Reader] = []

        def read(value: Any, faults: Faults) -> Any:
            return found[0](value, faults)

        self._known[annotation] = read
        found.append(self._reader(inner()))
        return read

    def _class(self, annotation: Any, cls: Any, arguments: tuple[Any, ...]) -> Reader:
        if cls in LISTS or cls in SETS or cls in (tuple, frozenset):
            return self._collection(cls, arguments)
        if cls in MAPS:
            return self._map(arguments)
        if models.is_model(cls):
            return models.Model(cls)
        if not isinstance(cls, type):
            raise WrongTypeError(f"nothing reads {configured.shown(annotation)} from the configuration")
        if issubclass(cls, enum.Enum):
            return scalars.enumeration(cls)
        if is_secret_class(cls):
            return scalars.secret(cls)
        if hasattr(cls, "model_validate") and self._find(cls) is None:
            return scalars.validated(cls)
        fields = records.fields_of(cls)
        if fields is not None and self._find(cls) is None:
            return self._record(annotation, cls, fields, arguments)
        return (scalars.written(cls) if self._find(cls) is None else None) or scalars.converted(cls, self._find)

    def _record(
        self, annotation: Any, cls: type, fields: dict[str, records.Field], arguments: tuple[Any, ...]
    ) -> Reader:
        record = records.Record(cls.__name__, dict if records.is_typed_dictionary(cls) else cls)
        self._known[annotation] = record
        variables = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
        if variables:
            fields = {
                name: records.Field(records.given(each.annotation, variables), each.is_required)
                for name, each in fields.items()
            }
        record.fill(fields, self._reader)
        return record

    # ---- collections -----------------------------------------------------------------------------------

    def _collection(self, cls: Any, arguments: tuple[Any, ...]) -> Reader:
        if cls is tuple and arguments and arguments[-1] is not ...:
            return self._tuple([self._reader(each) for each in arguments if each != ()])
        item = self._reader(arguments[0] if arguments else Any)
        make: Callable[[list[Any]], Any] | None = (
            tuple if cls is tuple else frozenset if cls is frozenset else set if cls in SETS else None
        )

        def read(value: Any, faults: Faults) -> Any:
            if type(value) is not list:
                return faults.expected("a list", value)
            items = []
            count = before = len(faults)
            for index, each in enumerate(value):
                made = item(each, faults)
                if made is NOTHING:
                    faults.within(str(index), before)
                    before = len(faults)
                else:
                    items.append(made)
            if len(faults) > count:
                return NOTHING
            try:
                return items if make is None else make(items)
            except TypeError:
                return faults.add("the items of a set must be hashable")

        return read

    def _tuple(self, items: list[Reader]) -> Reader:
        what = f"a list of {len(items)} item{'' if len(items) == 1 else 's'}"

        def read(value: Any, faults: Faults) -> Any:
            if type(value) is not list:
                return faults.expected(what, value)
            if len(value) != len(items):
                return faults.add(f"expected {what}, got {len(value)}", kind=RangeError)
            made = []
            count = len(faults)
            for index, (item, each) in enumerate(zip(items, value, strict=True)):
                before = len(faults)
                made.append(item(each, faults))
                if made[-1] is NOTHING:
                    faults.within(str(index), before)
            return NOTHING if len(faults) > count else tuple(made)

        return read

    def _map(self, arguments: tuple[Any, ...]) -> Reader:
        key = self._reader(arguments[0]) if arguments else scalars.anything
        item = self._reader(arguments[1] if arguments else Any)

        def read(value: Any, faults: Faults) -> Any:
            if type(value) is not dict:
                return faults.expected("a map", value)
            found = {}
            count = before = len(faults)
            for name, each in value.items():
                own = key(name, faults)
                made = item(each, faults)
                if own is NOTHING or made is NOTHING:
                    faults.within(name, before)
                    before = len(faults)
                else:
                    found[own] = made
            return NOTHING if len(faults) > count else found

        return read

    # ---- unions and constraints ------------------------------------------------------------------------

    def _union(self, annotation: Any, arguments: tuple[Any, ...]) -> Reader:
        rest = [each for each in arguments if each is not type(None)]
        readers = [self._reader(each) for each in rest]
        has_null = len(rest) < len(arguments)
        exact: dict[Any, Reader] = {each: scalars.SCALARS[each] for each in rest if each in (bool, int, float, str)}
        what = configured.shown(annotation)
        maps = [each for each in readers if isinstance(each, (records.Record, models.Model))]

        def read(value: Any, faults: Faults) -> Any:
            content = value.value if type(value) is Variable else value
            if content is None and has_null:
                return None
            if len(readers) == 1:
                return readers[0](value, faults)
            if type(content) in exact:
                return exact[type(content)](value, faults)
            if type(content) is dict:
                fitting = [each for each in maps if each.fits(content)]
                if len(fitting) == 1:
                    return fitting[0](value, faults)
            for reader in readers:
                made = reader(value, Faults(hides=True))
                if made is not NOTHING:
                    return made
            return faults.expected(f"one of {what}" if "|" in what or "[" in what else what, value)

        return read

    def _constrained(self, reader: Reader, notes: Iterable[Any]) -> Reader:
        """Adds the conditions of `Annotated`: those of annotated_types and pydantic, by their attributes."""
        checks = [check for note in notes for check in _checks(note)]
        if not checks:
            return reader

        def read(value: Any, faults: Faults) -> Any:
            made = reader(value, faults)
            if made is NOTHING:
                return made
            for test, what in checks:
                try:
                    holds = test(made)
                except Exception as problem:
                    signals.pass_on(problem)
                    holds = False
                if not holds:
                    return faults.expected(what, value, RangeError)
            return made

        return read


def _checks(note: Any) -> list[tuple[Callable[[Any], Any], str]]:
    """The conditions that an object in `Annotated` stands for."""
    inner = getattr(note, "metadata", None)
    if isinstance(inner, (list, tuple)):
        return [check for each in inner for check in _checks(each)]
    found: list[tuple[Callable[[Any], Any], str]] = []

    def add(name: str, test: Callable[[Any, Any], Any], what: str) -> None:
        limit = getattr(note, name, None)
        if limit is not None and not callable(limit):
            found.append((lambda value: test(value, limit), what.format(limit)))

    add("gt", lambda value, limit: value > limit, "more than {}")
    add("ge", lambda value, limit: value >= limit, "at least {}")
    add("lt", lambda value, limit: value < limit, "less than {}")
    add("le", lambda value, limit: value <= limit, "at most {}")
    add("multiple_of", lambda value, limit: value % limit == 0, "a multiple of {}")
    add("min_length", lambda value, limit: len(value) >= limit, "a length of at least {}")
    add("max_length", lambda value, limit: len(value) <= limit, "a length of at most {}")
    test = getattr(note, "func", None)
    if callable(test) and type(note).__name__ == "Predicate":
        found.append((test, f"a value for which {getattr(test, '__name__', 'the predicate')} holds"))
    return found


def _marked(value: Any, path: str, variables: dict[str, str | None]) -> Any:
    """Marks the values with environment variables."""
    inner: Any = value
    if isinstance(value, dict):
        inner = {name: _marked(each, f"{path}.{name}" if path else name, variables) for name, each in value.items()}
    elif isinstance(value, list):
        inner = [
            _marked(each, f"{path}.{index}" if path else str(index), variables) for index, each in enumerate(value)
        ]
    return Variable(inner, variables[path]) if path in variables and not isinstance(value, (dict, list)) else inner
