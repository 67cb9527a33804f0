"""Views: wait-free readings of one generation, and the blocks read through them."""

from __future__ import annotations

import collections
import ctypes
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .. import _generated as c
from .._declarations.marks import is_class
from .._native import signals, strings
from .._native.pins import entered
from .._objects import tunings
from .._objects.objects import Objects
from .._values.foreign import PropertyInfo
from ..errors import BusyError, DomainError, NotFoundError, StaleError, WrongTypeError
from . import bindings, config

T = TypeVar("T")

_FORMATS = {
    c.INVIVO_KIND_BOOL: "?",
    c.INVIVO_KIND_INT8: "b",
    c.INVIVO_KIND_INT16: "h",
    c.INVIVO_KIND_INT32: "i",
    c.INVIVO_KIND_INT64: "q",
    c.INVIVO_KIND_UINT8: "B",
    c.INVIVO_KIND_UINT16: "H",
    c.INVIVO_KIND_UINT32: "I",
    c.INVIVO_KIND_UINT64: "Q",
    c.INVIVO_KIND_FLOAT: "f",
    c.INVIVO_KIND_DOUBLE: "d",
}


class Block(Mapping[str, Any]):
    """The tunable properties of an object in one generation: a copy, as a mapping or by attribute."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"the block has no {name!r}; it has {', '.join(self._values)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Block.__slots__:
            return object.__setattr__(self, name, value)
        raise AttributeError(f"a block is a reading: {name!r} is set by a spec file, or in the object itself")

    def __getattr__(self, name: str) -> Any:
        if name in Block.__slots__:
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"the block has no {name!r}; it has {', '.join(self._values)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Block({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


def _decode(data: bytes, fields: tuple[PropertyInfo, ...], base: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields:
        at = base + field.offset
        if field.fields:
            found[field.name] = dict(_decode(data, field.fields, at))
        elif field.number in _FORMATS:
            (value,) = struct.unpack_from("=" + _FORMATS[field.number], data, at)
            names = {number: name for name, number in field.choices.items()}
            found[field.name] = names.get(value, value) if names else value
        elif field.number == c.INVIVO_KIND_STRING:
            found[field.name] = data[at : at + field.size].split(b"\0", 1)[0].decode("utf-8", "replace")
        elif field.number == c.INVIVO_KIND_BYTES:
            found[field.name] = data[at : at + field.size]
    return found


class _Begun:
    """A view of the library. It belongs to the thread that began it."""

    __slots__ = ("__weakref__", "end", "generation", "left", "thread", "views")

    def __init__(self, end: Callable[[c.invivo_view], None]) -> None:
        self.end = end
        self.generation = 0  # until it has begun, of any
        self.views: list[c.invivo_view | None] = [None]  # then the view, until it ends
        self.thread, self.left = threading.get_ident(), _left.open

    def leave(self) -> None:
        """Ends the view. Another thread leaves that to the thread of the view."""
        if threading.get_ident() != self.thread:
            self.left.append(self)
            return
        # No Python code runs in between, in which a signal handler could raise: a view is in the list, or has ended.
        if self.views:
            collections.deque(map(self.end, iter(self.views.pop, None)), maxlen=0)
        self.__class__ = _Begun  # pyright: ignore[reportAttributeAccessIssue]


class _Open(_Begun):
    """A view that may be open. It ends when nothing refers to it, as after an exception at the entry of
    `View.__exit__`.

    Other views have no ``__del__``: an exception of a signal handler at its entry would be lost.
    """

    __slots__ = ()

    def __del__(self) -> None:
        try:
            self.leave()
        except BaseException as problem:
            self.leave()
            if not signals.defer(problem):
                raise


class _Left(threading.local):
    """The views of this thread that other threads have left."""

    def __init__(self) -> None:
        self.open: list[_Begun] = []


_left = _Left()


def end_left() -> None:
    """Ends the views of the calling thread that other threads have left."""
    while _left.open:
        _left.open[-1].leave()
        _left.open.pop()


class View:
    """A reading of one generation by the thread that began it: ``with runtime.view() as view``."""

    def __init__(self, core: Objects) -> None:
        self._core = core
        self._begun: _Begun | None = None

    def __enter__(self) -> View:
        self._core.check()
        end_left()
        if self._begun is not None:
            raise BusyError("the view is open already: runtime.view() gives another one")
        library = self._core.library
        begun = _Begun(library.view_end)
        self._core.tunings.opening(begun)
        try:
            self._begun = begun
            begun.__class__ = _Open
            entered(library, begun.views.extend, map(library.view_begin, (self._core.handle,)))
            if not begun.views[-1].graph:  # type: ignore[union-attr]
                raise StaleError("the runtime is closed, or belongs to the parent process")
            begun.generation = int(begun.views[-1].graph[0].generation)  # type: ignore[union-attr]
        except BaseException:
            begun.leave()
            self._begun = None
            raise
        return self

    def __exit__(self, *_: object) -> None:
        begun = self._begun
        if begun is None:
            return
        try:
            begun.leave()
        except BaseException:  # of a signal handler, and it keeps this frame alive
            begun.leave()
            raise
        finally:
            self._begun = None
            self._core.tunings.prune()

    def _open(self) -> c.invivo_view:
        begun = self._begun
        if begun is None:
            raise StaleError("the view is not open: use it inside `with runtime.view() as view`")
        if threading.get_ident() != begun.thread:
            raise DomainError("a view belongs to the thread that began it")
        view = begun.views[-1]
        assert view is not None
        return view

    @property
    def generation(self) -> int:
        return int(self._open().graph[0].generation)

    def config(self, path: str, default: Any = None, *, kind: type | None = None) -> Any:
        """Returns the value of the configuration at a whole path in this generation, or the default.

        ``kind`` (bool, int, float, str, list, dict): the type that the value must have. Documents with another type are
        refused from now on.
        """
        number = config.config_id(self._core, path, kind)
        found = config.in_view(self._core, self._open(), number)
        if found is None:
            return default
        return float(found) if kind is float else int(found) if kind is int else found

    def settings(self, what: type[T] | str) -> T:
        """Returns the typed settings of this generation: of a bound class, or by the name of a binding."""
        found: T = bindings.in_view(self._core, self._open(), what)
        return found

    def block(self, key: str | type) -> Block:
        """Returns the tunable values of a key, or of the key of a class, all of this generation.

        Those of a Python object are its attributes that are declared by `tunable`; the key must have been resolved
        once. A view that was begun before a reload reads the former values, during and after it.
        """
        view = self._open()
        if is_class(key):
            key = self._core.types.key_of(key)
        if not isinstance(key, str):
            raise WrongTypeError(f"expected a key or a class, got {key!r}")
        name = strings.name_bytes(key, "key")
        found = self._core.library.view_key(view, name, len(name))
        entry = tunings.entry_in(view, found)
        if entry is None:
            raise NotFoundError(f"there is no {key} in generation {view.graph[0].generation}", path=key)
        if not entry.block:
            return Block(self._core.tunings.block(view, found, key))
        fields = self._core.foreign_type(entry.type).properties
        fields = tuple(each for each in fields if each.in_block) or fields
        size = max((field.offset + field.size for field in fields), default=0)
        return Block(_decode(ctypes.string_at(entry.block, size), fields))
