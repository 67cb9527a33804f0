"""Python classes that a runtime knows as types, and the names of classes."""

from __future__ import annotations

import abc
import ctypes
import itertools
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import _generated as c
from .._classes.annotations import behaves, is_protocol
from .._classes.classes import Description, is_virtual
from .._declarations.marks import component_name
from .._native import strings
from .._native.session import Session
from .._values.foreign import Object


class TypeRecord:
    """A class that a runtime knows. ``is_managed``: as the type of resources that provide objects of the class."""

    def __init__(self, description: Description, is_managed: bool = False) -> None:
        self.description, self.is_managed = description, is_managed
        self.bits = 0
        self.fills_needs = False  # whether the library fills marked attributes; otherwise Python does

    @property
    def stops(self) -> bool:
        """Whether its objects must be stopped or torn down."""
        ends = self.description.stop, self.description.setup, self.description.teardown
        return self.is_managed or ends != (None, None, None)


Register = Callable[[type, "Description | None", bool], TypeRecord]


def is_nominal(cls: type) -> bool:
    """Whether the class alone decides the type of its instances.

    Any object may conform to a protocol, and proxies have no class of their own.
    """
    return not is_protocol(cls) and cls is not Object and cls.__module__ != "builtins" and not is_virtual(cls)


class Types:
    """The classes of one runtime. ``register`` registers a class with the library."""

    def __init__(self, core: Session, register: Register) -> None:
        self._core, self._register = core, register
        self.records: dict[type, TypeRecord] = {}
        self.by_bits: dict[int, TypeRecord] = {}
        self.known: dict[str, type] = {}  # classes by name, for annotations that are strings
        self._managed: dict[type, TypeRecord] = {}  # of resources, by the class of the object
        self._classes: dict[str, type] = {}
        self._names: dict[type, str] = {}
        self._queried: dict[type, str] = {}  # protocols and abstract classes that were looked for

    def of(self, cls: type, description: Description | None = None) -> TypeRecord:
        """Returns the type of a class; registers it if it is new."""
        record = self.records.get(cls)
        return record if record is not None else self._register(cls, description, False)

    def managed(self, cls: type) -> TypeRecord:
        """Returns the type of resources that provide objects of a class: a subtype of the class's that is stopped."""
        record = self._managed.get(cls)
        return record if record is not None else self._register(cls, None, True)

    def find(self, cls: type, *, is_managed: bool) -> TypeRecord | None:
        """Returns the type of a class if it is registered."""
        return (self._managed if is_managed else self.records).get(cls)

    def add(self, record: TypeRecord) -> None:
        """Takes a type that has been registered."""
        self.by_bits[record.bits] = record
        (self._managed if record.is_managed else self.records)[record.description.cls] = record
        self._extend(record, self._queried)

    def remove(self, record: TypeRecord) -> None:
        """Forgets a type that the library has dropped."""
        self.by_bits.pop(record.bits, None)
        for table in (self.records, self._managed):
            if table.get(record.description.cls) is record:
                table.pop(record.description.cls, None)

    # ---- names -------------------------------------------------------------------------------------------

    def name_of(self, cls: type) -> str:
        """Returns the name that a class has, or will have, as a type of this runtime."""
        known = self._names.get(cls)
        if known is not None:
            return known
        for name in _possible_names(cls):
            if name not in self._classes:
                found = c.invivo_type()
                library, encoded = self._core.library, strings.name_bytes(name)
                if library.type_find(self._core.handle, encoded, ctypes.byref(found), None) == c.INVIVO_OK:
                    continue
            if self._classes.setdefault(name, cls) is cls:
                return self._names.setdefault(cls, name)
        raise AssertionError("_possible_names does not end")

    def refuse_name(self, cls: type, name: str) -> None:
        """Notes that a type of another language has the name."""
        self._names.pop(cls, None)
        self._classes[name] = type(None)

    def known_name(self, cls: type) -> str:
        """Returns the name of a class that has one, else ""."""
        return self._names.get(cls, "")

    def class_named(self, name: str | None) -> type | None:
        """Returns the class with a name, if it is one of Python."""
        return self._classes.get(name or "")

    def arguments_of(self, generic: Any) -> str:
        """Returns the suffix for a generic class in lookups: ``[User]`` for ``Repository[User]``, "" without one."""
        given = typing.get_args(generic)
        if not given or any(isinstance(each, typing.TypeVar) for each in given):
            return ""
        return f"[{', '.join(self._argument(each) for each in given)}]"

    def _argument(self, given: Any) -> str:
        origin = typing.get_origin(given)
        if isinstance(origin, type):
            return self.name_of(origin) + self.arguments_of(given)
        return self.name_of(given) if isinstance(given, type) else repr(given)

    def generics_of(self, cls: type) -> list[str]:
        """Returns the generic types that a class derives from, as ``Repository[User]``."""
        found: dict[str, None] = {}
        for each in cls.__mro__:
            for base in vars(each).get("__orig_bases__", ()):
                origin, given = typing.get_origin(base), self.arguments_of(base)
                if isinstance(origin, type) and given and origin not in (typing.Generic, typing.Protocol):
                    found[self.name_of(origin) + given] = None
        return list(found)

    # ---- type queries ------------------------------------------------------------------------------------

    def query(self, of: Any) -> str:
        """Returns the name to look for a class by, or for a generic class with arguments: ``Repository[User]``.

        From then on, classes that conform to the protocol or abstract class without deriving from it are found too.
        """
        origin = typing.get_origin(of)
        cls: type = origin if isinstance(origin, type) else of
        name = self.name_of(cls)
        is_open = is_protocol(cls) or isinstance(cls, abc.ABCMeta)
        if cls not in self._queried and is_open and not self._core.is_parents:  # a forked child changes no type
            self._queried[cls] = name
            for record in [*self.records.values(), *self._managed.values()]:
                self._extend(record, (cls,))
        return name + self.arguments_of(of)

    def key_of(self, of: Any, *, exact: bool = False) -> str:
        """Returns the key of the one definition of a class, or of ``Repository[User]``, as the library finds it."""
        core, found, kind = self._core, c.invivo_key(), strings.name_bytes(self.query(of))
        flags = c.INVIVO_LOOKUP_EXACT if exact else 0
        core.library.call("key_of_type", core.handle, kind, None, flags, ctypes.byref(found))
        return strings.text(core.library.key_name(found))

    def _extend(self, record: TypeRecord, queried: Iterable[type]) -> None:
        """Declares the classes among these that a type conforms to without deriving from them."""
        its = record.description.cls
        for cls in list(queried):
            if cls not in its.__mro__ and behaves(its, cls):
                name = strings.name_bytes(self._queried[cls])
                self._core.library.call("type_extend", self._core.handle, c.invivo_type(record.bits), name)


def _possible_names(cls: type) -> Iterator[str]:
    """Yields names for a class, the best one first. A name that another type has taken cannot be used."""
    yield component_name(cls) or cls.__name__
    full = f"{cls.__module__}.{cls.__qualname__}"
    yield full
    for number in itertools.count(2):
        yield f"{full}#{number}"
